import { join } from 'node:path'
import { loadChain, withEnvironment } from '../../config/chain.ts'
import type { Config } from '../../config/load.ts'
import { loadPresets } from '../../config/presets.ts'
import { programEnvironment } from '../../config/programs.ts'
import { OWN_PLUGINS } from '../core/own-files.ts'
import type { Engine } from '../core/plugin-api/plugin.ts'
import { createEngines } from '../engines/engines.ts'
import { createPrograms, type Programs } from '../engines/ffmpeg/installed.ts'
import { watchFonts } from '../engines/image/documents/scripts.ts'
import { createScratch } from '../engines/temp/scratch.ts'
import { createSpool } from '../engines/temp/spool.ts'
import { loadPlugins } from '../pipeline/load/load.ts'
import type { PluginFolder } from '../pipeline/load/plugin-files.ts'
import { pluginPackage } from '../pipeline/load/plugin-package.ts'
import { checkPresets } from '../pipeline/plan/presets.ts'
import { createPool, type Pool, type PoolOptions } from '../process/child-pool/pool.ts'
import { idleCpu as idleCpuOfMachine } from '../process/idle-cpu.ts'

/**
 * Loads everything that must be valid before any data is touched: the chain, all plugins, and the presets.
 *
 * @throws PluginError for a broken plugin; PresetError for broken presets; Error for a file of `config/` that cannot be
 *   read
 */
export async function loadEverything({
  config,
  root,
  engines: given,
  programs,
  idleCpu = idleCpuOfMachine,
  openPool = createPool,
}: LoadOptions) {
  const env = programEnvironment()
  const media = {
    folder: join(config.DATA_DIR, 'media'),
    env,
    programs: programs ?? createPrograms(env),
    mediaTimeoutMs: config.MEDIA_TIMEOUT_SECONDS * 1000,
    documentTimeoutMs: config.DOCUMENT_TIMEOUT_SECONDS * 1000,
    documentSandbox: config.DOCUMENT_SANDBOX,
  }
  const { engines, ffmpeg, office } = createEngines(media, given)
  const chain = withEnvironment(await loadChain(join(root, 'config', 'chain.json')), config)
  const packages = (config.PLUGINS ?? []).map((name) => pluginPackage(name, process.cwd()))
  const folders = [...pluginFolders(root, config.PLUGINS_DIR), ...(await Promise.all(packages))]
  const plugins = await loadPlugins({ folders, engines, chain })
  const presets = checkPresets(await loadPresets(join(root, 'config', 'presets.json')), plugins.transforms)
  const spool = createSpool(createScratch(media.folder))
  const fonts = watchFonts()
  const ownEngines = given === undefined
  return {
    chain,
    engines,
    ffmpeg,
    folders,
    fonts,
    idleCpu,
    office,
    openPool,
    ownEngines,
    plugins,
    presets,
    spool,
  }
}

/** The result of {@link loadEverything}. */
export type Loaded = Awaited<ReturnType<typeof loadEverything>>

export interface LoadOptions {
  config: Config
  /** The project's folder: `config/chain.json`, `config/presets.json` and drop-in `plugins/` are in it. */
  root: string
  /** Replacements of the engines of Sluice, by their names. */
  engines?: readonly Engine[]
  /** The installed ffmpeg programs, when they are known. By default, they are searched in `PATH`. */
  programs?: Programs
  /** The share of the CPU that is idle, from 0 to 1; default: as the machine measures it. */
  idleCpu?: (signal: AbortSignal) => Promise<number>
  /** Opens the pool of child processes that transform images. Default: a pool of this service alone. */
  openPool?: (options: PoolOptions) => Pool
}

/** The plugins of Sluice, and drop-in plugins, which are plain JavaScript. */
function pluginFolders(root: string, more: string | undefined): PluginFolder[] {
  return [
    OWN_PLUGINS,
    { path: join(root, 'plugins'), extension: '.js', shipped: false, optional: true },
    ...(more === undefined ? [] : [{ path: more, extension: '.js', shipped: false }]),
  ]
}
