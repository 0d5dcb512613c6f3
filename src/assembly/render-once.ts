import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import { programEnvironment } from '../../config/programs.ts'
import { assetFromBytes, readAll } from '../core/bytes/asset.ts'
import { formatOfMediaType } from '../core/media/formats.ts'
import { sniff } from '../core/media/sniff/sniff.ts'
import { OWN_PLUGINS } from '../core/own-files.ts'
import type { DetectorPlugin } from '../core/plugin-api/detector.ts'
import type { ParameterSpecs } from '../core/plugin-api/parameter.ts'
import type { EngineContext, EngineName, TransformPlugin } from '../core/plugin-api/plugin.ts'
import { createEngines } from '../engines/engines.ts'
import { loadPlugins } from '../pipeline/load/load.ts'
import { createPlanner } from '../pipeline/plan/plan.ts'
import { createRunner } from '../pipeline/run/run.ts'
import { limitsOf } from './transform-limits.ts'

/** The output of {@link render}. */
export interface Rendered {
  bytes: Buffer
  /** `image/webp`. */
  mediaType: string
  /** The text that names the derivative, without a folder. */
  variant: string
  /** Notes of plugins for the client, see `X-Sluice-Transform`. */
  notes: readonly string[]
}

export interface RenderOptions {
  /** Settings of the plugin, over its own defaults. */
  options?: Readonly<Record<string, unknown>>
  /** The `Accept` header of the request. Default: empty. */
  accept?: string
  /** Files that parameters of type `key` name: paths or bytes. */
  assets?: Readonly<Record<string, string | Uint8Array>>
}

/**
 * Renders a file with a plugin and all plugins of Sluice, as the server would, with its default limits.
 *
 * @param file a path, or the bytes
 * @param query the parameters in the URL: `w=300&duotone=ff0000`
 * @throws PluginError for a broken plugin; Problem with a status for an invalid query, or a file that cannot be transformed
 */
export async function render<const P extends ParameterSpecs, E extends EngineName>(
  plugin: TransformPlugin<P, E> | DetectorPlugin<E>,
  file: string | Uint8Array,
  query: string,
  { options = {}, accept = '', assets = {} }: RenderOptions = {},
): Promise<Rendered> {
  const { engines } = createEngines({ folder: join(tmpdir(), 'sluice-testing'), env: programEnvironment() })
  const { transforms, detector } = await loadPlugins({
    folders: [OWN_PLUGINS],
    given: new Map([[plugin.name, plugin]]),
    engines,
    chain: { order: [], disabled: [], ignoredParams: [], options: { [plugin.name]: options } },
  })
  const source = await assetOf(file)
  const planned = createPlanner(
    transforms,
    [],
    detector ? { detector } : {},
  )({
    query: new URLSearchParams(query),
    format: formatOfMediaType(source.mediaType),
    preferences: { accept },
  })
  const { steps, variant, notes } = planned
  const cleanups: Array<() => Promise<void>> = []
  const context: EngineContext = {
    async asset(key) {
      const named = assets[key]
      if (named === undefined) throw new Error(`expected the file ${key} in assets`)
      return assetOf(named)
    },
    signal: new AbortController().signal,
    limits: limitsOf(loadConfig({})),
    log: SILENT,
    afterwards: (remove) => void cleanups.push(remove),
    storePart: async () => {
      throw new Error('expected an output of one file')
    },
  }
  try {
    const asset = steps.length === 0 ? source : await createRunner(engines)(planned, source, context)
    return { bytes: await readAll(asset), mediaType: asset.mediaType, variant, notes }
  } finally {
    for (const remove of cleanups) await remove()
  }
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

async function assetOf(file: string | Uint8Array) {
  const bytes = typeof file === 'string' ? await readFile(file) : file
  const { format } = await sniff(bytes, typeof file === 'string' ? basename(file) : '')
  return assetFromBytes(bytes, { mediaType: format.mediaType, lastModified: new Date(0) })
}
