import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { programEnvironment } from '../../../config/programs.ts'
import type { Engine, EngineName } from '../../../src/core/plugin-api/plugin.ts'
import { createEngines } from '../../../src/engines/engines.ts'
import { type ChainSettings, loadPlugins, type PluginSet } from '../../../src/pipeline/load/load.ts'
import type { PluginFolder } from '../../../src/pipeline/load/plugin-files.ts'

const PROGRAMS = { folder: join(tmpdir(), 'sluice-test-media'), env: programEnvironment() }

export const ENGINES: ReadonlyMap<EngineName, Engine> = createEngines(PROGRAMS).engines

export const CHAIN: ChainSettings = { order: [], disabled: [], options: {}, ignoredParams: [] }

/** Sluice's own plugins, from their sources. */
export const SHIPPED: PluginFolder = {
  path: join(import.meta.dirname, '..', '..', '..', 'plugins'),
  extension: '.ts',
  shipped: true,
}

/** A temporary folder of plugin files, outside every package. */
export interface DropIns {
  folder: PluginFolder
  /** Its path for a file, as messages name it. */
  path(file: string): string
  remove(): Promise<void>
}

/**
 * Writes plugin files. Each call makes a new folder: Node loads a module of one name only once.
 *
 * @param files text by name; `a/b.js` makes a subfolder
 */
export async function dropIns(files: Readonly<Record<string, string>>): Promise<DropIns> {
  const path = await mkdtemp(join(tmpdir(), 'sluice-plugins-'))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true })
    await writeFile(join(path, name), text)
  }
  return {
    folder: { path, extension: '.js', shipped: false },
    path: (file) => join(path, file),
    remove: () => rm(path, { recursive: true, force: true }),
  }
}

/** Loads the included plugins and, in addition, drop-ins that are removed afterwards. */
export async function loadWith(
  files: Readonly<Record<string, string>>,
  chain: Partial<ChainSettings> = {},
): Promise<PluginSet> {
  const { folder, remove } = await dropIns(files)
  try {
    return await loadPlugins({ folders: [SHIPPED, folder], engines: ENGINES, chain: { ...CHAIN, ...chain } })
  } finally {
    await remove()
  }
}

/** The source of a drop-in: by default a flag without effect. `members` are JavaScript. */
export function dropIn(name: string, members: Readonly<Record<string, string | undefined>> = {}): string {
  const all = {
    name: JSON.stringify(name),
    engine: "'sharp'",
    phase: "'effect'",
    params: `{ ${name.replaceAll('-', '_')}: { type: 'flag', help: 'Does nothing' } }`,
    transform: '(image) => image',
    ...members,
  }
  const lines = Object.entries(all).flatMap(([member, value]) =>
    value === undefined ? [] : [`  ${member}: ${value},\n`],
  )
  return `export default {\n${lines.join('')}}\n`
}
