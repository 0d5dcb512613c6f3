import { sha256 } from '../../core/bytes/digest.ts'
import type { EventName } from '../../core/events.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import type { DetectorPlugin } from '../../core/plugin-api/detector.ts'
import type { EventPlugin } from '../../core/plugin-api/event-plugin.ts'
import type { Engine, EngineName, TransformPlugin } from '../../core/plugin-api/plugin.ts'
import type { ScannerPlugin } from '../../core/plugin-api/scanner.ts'
import { didYouMean } from '../../core/text/did-you-mean.ts'
import { checkDetector } from './check-detector.ts'
import { checkEventPlugin, checkTargets } from './check-event-plugin.ts'
import { checkParameters } from './check-parameter.ts'
import { checkApi, checkKind, checkName } from './check-record.ts'
import { checkScanner } from './check-scanner.ts'
import { checkOptions, transformCheck, withChoices } from './check-transform.ts'
import { ChainError, PluginError } from './plugin-error.ts'
import { type PluginFile, type PluginFolder, pluginFiles } from './plugin-files.ts'
import { inOrder } from './plugin-order.ts'

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

/** The checked scanner plugin with its settings from the chain. */
export interface LoadedScanner {
  plugin: ScannerPlugin
  options: Readonly<Record<string, unknown>>
}

export interface PluginSet {
  /** In the order in which they run. */
  transforms: readonly LoadedPlugin[]
  events: readonly LoadedEventPlugin[]
  /** At most one: that of the operator, otherwise that of Sluice. */
  detector?: LoadedDetector
  /** At most one. */
  scanner?: LoadedScanner
}

/**
 * Loads and checks all plugins of `folders`. A broken plugin stops the start; it is never skipped without an error.
 *
 * @param given plugins as objects, by their names. Each replaces a file with a plugin of the same name
 * @param partial set when the chain may name plugins of further folders
 * @throws PluginError, ChainError
 */
export async function loadPlugins({
  folders,
  engines,
  chain,
  given = new Map(),
  partial,
}: {
  folders: readonly PluginFolder[]
  given?: ReadonlyMap<string, object>
  engines: ReadonlyMap<EngineName, Engine>
  chain: ChainSettings
  partial?: true
}): Promise<PluginSet> {
  const checkTransform = transformCheck(engines)
  const transforms: Array<LoadedPlugin & { file: string }> = []
  const events: LoadedEventPlugin[] = []
  let detector: LoadedDetector | undefined
  let detectorIsShipped = false
  let scanner: LoadedScanner | undefined
  const fileOf = new Map<string, string>()
  // Disabled shipped plugins that would otherwise be part of every plan.
  const missing: string[] = []
  const sources = [...folders.map(pluginFiles), inMemory(given)]
  for (const files of sources) {
    for await (const { file, candidate, shipped, release } of files) {
      const name = checkName(file, candidate)
      // The name of a given plugin takes the place of its path.
      if (given.has(name) && file !== name) continue
      const earlier = fileOf.get(name)
      if (earlier) throw new PluginError(file, `the name ${name} is taken by ${earlier}`)
      fileOf.set(name, file)
      if (chain.disabled.includes(name)) {
        if (shipped && 'always' in candidate && candidate.always) missing.push(name)
        continue
      }
      checkApi(file, candidate)
      checkKind(file, candidate)
      if ('on' in candidate) {
        const plugin = checkEventPlugin(file, candidate)
        const options = { ...plugin.options, ...chain.options[name] }
        events.push({ plugin, options, targets: checkTargets(file, plugin, options) })
        continue
      }
      if ('scan' in candidate) {
        const plugin = checkScanner(file, candidate)
        if (scanner)
          throw new PluginError(file, `${scanner.plugin.name} is already the scanner: disable one of them`)
        scanner = { plugin, options: { ...plugin.options, ...chain.options[name] } }
        continue
      }
      if ('detect' in candidate) {
        const plugin = checkDetector(file, candidate, engines)
        // An own detector of the operator replaces that of Sluice, whichever is loaded first.
        if (detector && shipped) continue
        if (detector && !detectorIsShipped)
          throw new PluginError(file, `${detector.plugin.name} is already the detector: disable one of them`)
        const fingerprint = await fingerprintOf(plugin, { shipped, release, options: chain.options[name] })
        detector = { plugin, options: { ...plugin.options, ...chain.options[name] }, fingerprint }
        detectorIsShipped = shipped
        continue
      }
      const checked = checkTransform(file, candidate)
      const options = { ...checked.options, ...chain.options[name] }
      checkOptions(file, checked, options)
      const chosen = withChoices(file, checked, options)
      const plugin = chosen === checked ? checked : checkTransform(file, chosen)
      const fingerprint = await fingerprintOf(plugin, { shipped, release, options: chain.options[name] })
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
  if (!partial) checkChain(chain, fileOf)
  return {
    transforms: inOrder(transforms, chain.order).map((one) => without(missing, one)),
    events,
    ...(detector ? { detector } : {}),
    ...(scanner ? { scanner } : {}),
  }
}

/** Disabling a shipped `always` plugin changes every plan, so its name becomes part of all fingerprints. */
function without(missing: readonly string[], loaded: LoadedPlugin): LoadedPlugin {
  if (missing.length === 0) return loaded
  const { fingerprint, plugin } = loaded
  return { ...loaded, fingerprint: sha256(JSON.stringify([fingerprint ?? plugin.name, ...missing])) }
}

async function* inMemory(given: ReadonlyMap<string, object>): AsyncGenerator<PluginFile> {
  for (const [file, candidate] of given) yield { file, candidate, shipped: false, release: async () => '' }
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
  {
    shipped,
    release,
    options,
  }: Pick<PluginFile, 'shipped' | 'release'> & { options: Readonly<Record<string, unknown>> | undefined },
): Promise<string | undefined> {
  const version = plugin.version ?? 1
  if (shipped && version === 1 && options === undefined) return undefined
  return sha256(JSON.stringify([plugin.name, version, options ?? {}, await release()]))
}
