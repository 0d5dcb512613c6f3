import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sha256 } from '../../core/bytes/digest.ts'
import type { EventName } from '../../core/events.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import type { DetectorPlugin } from '../../core/plugin-api/detector.ts'
import type { EventPlugin } from '../../core/plugin-api/event-plugin.ts'
import type { Engine, EngineName, TransformPlugin } from '../../core/plugin-api/plugin.ts'
import { didYouMean } from '../../core/text/did-you-mean.ts'
import { checkDetector } from './check-detector.ts'
import { checkEventPlugin, checkTargets } from './check-event-plugin.ts'
import { checkParameters } from './check-parameter.ts'
import { checkKind, checkName } from './check-record.ts'
import { checkOptions, transformCheck, withChoices } from './check-transform.ts'
import { ChainError, PluginError } from './plugin-error.ts'
import { inOrder } from './plugin-order.ts'

/** A folder of plugin files, including its subfolders. */
export interface PluginFolder {
  path: string
  /** `.js` or `.ts` */
  extension: string
  /** Whether its plugins are part of Sluice. Shipped plugins need no fingerprint of their text. */
  shipped: boolean
  /** Whether the folder may be missing. */
  optional?: boolean
}

/** The operator's settings of the chain: `config/chain.json`. */
export interface ChainSettings {
  /** Names of plugins in the order in which they run. Other plugins keep their place by phase and name. */
  order: readonly string[]
  disabled: readonly string[]
  /** Query parameters that are ignored. */
  ignoredParams: readonly string[]
  /** Options by name of the plugin. */
  options: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** A checked transform plugin with its settings from the chain. */
export interface LoadedPlugin {
  plugin: TransformPlugin
  media: readonly MediaGroup[]
  options: Readonly<Record<string, unknown>>
  /** Undefined for an unmodified shipped plugin; otherwise a digest of its version, options and text. */
  fingerprint: string | undefined
}

/** A checked event plugin with its settings from the chain. */
export interface LoadedEventPlugin {
  plugin: EventPlugin
  options: Readonly<Record<string, unknown>>
  /** The targets of each event, such as webhook receivers. */
  targets: ReadonlyMap<EventName, readonly string[]>
}

/** The checked detector plugin with its settings from the chain. */
export interface LoadedDetector {
  plugin: DetectorPlugin
  options: Readonly<Record<string, unknown>>
  /** See {@link LoadedPlugin.fingerprint}. */
  fingerprint: string | undefined
}

export interface PluginSet {
  /** In the order in which they run. */
  transforms: readonly LoadedPlugin[]
  events: readonly LoadedEventPlugin[]
  /** At most one. */
  detector?: LoadedDetector
}

/**
 * Loads and checks all plugins of `folders`. A broken plugin stops the start; it is never skipped without an error.
 *
 * @throws PluginError, ChainError
 */
export async function loadPlugins({
  folders,
  engines,
  chain,
}: {
  folders: readonly PluginFolder[]
  engines: ReadonlyMap<EngineName, Engine>
  chain: ChainSettings
}): Promise<PluginSet> {
  const checkTransform = transformCheck(engines)
  const transforms: Array<LoadedPlugin & { file: string }> = []
  const events: LoadedEventPlugin[] = []
  let detector: LoadedDetector | undefined
  const fileOf = new Map<string, string>()
  // Disabled shipped plugins that would otherwise be part of every plan.
  const missing: string[] = []
  for (const folder of folders) {
    for (const file of await filesOf(folder)) {
      const candidate = await importDefault(file)
      const name = checkName(file, candidate)
      const earlier = fileOf.get(name)
      if (earlier) throw new PluginError(file, `the name ${name} is taken by ${earlier}`)
      fileOf.set(name, file)
      if (chain.disabled.includes(name)) {
        if (folder.shipped && 'always' in candidate && candidate.always) missing.push(name)
        continue
      }
      checkKind(file, candidate)
      if ('on' in candidate) {
        const plugin = checkEventPlugin(file, candidate)
        const options = { ...plugin.options, ...chain.options[name] }
        events.push({ plugin, options, targets: checkTargets(file, plugin, options) })
        continue
      }
      if ('detect' in candidate) {
        const plugin = checkDetector(file, candidate, engines)
        if (detector)
          throw new PluginError(file, `${detector.plugin.name} is already the detector: disable one of them`)
        const fingerprint = await fingerprintOf(plugin, file, folder.shipped, chain.options[name])
        detector = { plugin, options: { ...plugin.options, ...chain.options[name] }, fingerprint }
        continue
      }
      const checked = checkTransform(file, candidate)
      const options = { ...checked.options, ...chain.options[name] }
      checkOptions(file, checked, options)
      const plugin = checkTransform(file, withChoices(file, checked, options))
      const fingerprint = await fingerprintOf(plugin, file, folder.shipped, chain.options[name])
      transforms.push({
        file,
        plugin,
        media: plugin.media ?? engines.get(plugin.engine)?.media ?? [],
        options,
        fingerprint,
      })
    }
  }
  checkParameters(transforms, chain.ignoredParams)
  checkChain(chain, fileOf)
  return {
    transforms: inOrder(transforms, chain.order).map((one) => without(missing, one)),
    events,
    ...(detector ? { detector } : {}),
  }
}

/** Disabling a shipped `always` plugin changes every plan, so its name becomes part of all fingerprints. */
function without(missing: readonly string[], loaded: LoadedPlugin): LoadedPlugin {
  if (missing.length === 0) return loaded
  const { fingerprint, plugin } = loaded
  return { ...loaded, fingerprint: sha256(JSON.stringify([fingerprint ?? plugin.name, ...missing])) }
}

/**
 * A mounted Kubernetes ConfigMap is a folder of symbolic links into a hidden folder next to them. So this follows links, and
 * takes each file once, under the first of its names.
 */
async function filesOf({ path, extension, optional }: PluginFolder): Promise<string[]> {
  const names = await readdir(path, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && optional) return []
    throw new PluginError(path, `the folder cannot be read: ${error.message}`, error)
  })
  const files = new Map<string, string>()
  for (const name of names.sort()) {
    const hidden = name.split('/').some((segment) => segment.startsWith('.') || segment === 'node_modules')
    if (hidden || !name.endsWith(extension) || name.endsWith('.d.ts')) continue
    const file = join(path, name)
    const real = await realpath(file)
    if ((await stat(real)).isFile() && !files.has(real)) files.set(real, file)
  }
  return [...files.values()]
}

async function importDefault(file: string): Promise<object> {
  let module: { default?: unknown }
  try {
    module = await import(pathToFileURL(file).href)
  } catch (cause) {
    throw new PluginError(
      file,
      `cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    )
  }
  if (typeof module.default !== 'object' || module.default === null) {
    throw new PluginError(
      file,
      `expected a plugin object as the default export but found ${typeof module.default}`,
    )
  }
  return module.default
}

function checkChain({ order, disabled, options }: ChainSettings, fileOf: ReadonlyMap<string, string>): void {
  for (const [key, names] of Object.entries({ order, disabled, options: Object.keys(options) })) {
    for (const name of names) {
      if (fileOf.has(name)) continue
      throw new ChainError(key, `there is no plugin called ${name}${didYouMean(name, fileOf.keys())}`)
    }
  }
  for (const [i, name] of order.entries()) {
    if (order.indexOf(name) < i) throw new ChainError('order', `it names ${name} twice`)
  }
}

/**
 * Undefined for a shipped plugin in version 1 without options of the operator. The text of a drop-in is part of the digest:
 * after an edit, derivatives of the earlier text are never served, even when its author has not raised the version.
 */
async function fingerprintOf(
  plugin: TransformPlugin | DetectorPlugin,
  file: string,
  shipped: boolean,
  options: Readonly<Record<string, unknown>> | undefined,
): Promise<string | undefined> {
  const version = plugin.version ?? 1
  if (shipped && version === 1 && options === undefined) return undefined
  const text = shipped ? '' : sha256(await readFile(file))
  return sha256(JSON.stringify([plugin.name, version, options ?? {}, text]))
}
