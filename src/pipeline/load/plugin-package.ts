import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { PluginError } from './plugin-error.ts'
import type { PluginFolder } from './plugin-files.ts'

/**
 * Finds a plugin that is an npm package. It is searched for in `node_modules` of the folder, then of each folder above it.
 *
 * @throws PluginError when it is not installed, or has no main file
 */
export async function pluginPackage(name: string, from: string): Promise<PluginFolder> {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name)
    const text = await readFile(join(path, 'package.json'), 'utf8').catch(() => undefined)
    if (text !== undefined) return inFolder(path, name, text)
    if (folder === dirname(folder))
      throw new PluginError(
        name,
        `the npm package is not installed in ${resolve(from)}. Run npm install ${name} there, or remove it from PLUGINS`,
      )
  }
}

function inFolder(folder: string, name: string, packageJson: string): PluginFolder {
  const { version, exports, main } = readJson(name, packageJson)
  const target = exports === undefined ? (main ?? 'index.js') : targetOf(exports)
  if (typeof target !== 'string')
    throw new PluginError(name, 'expected exports["."] or main in its package.json to name a file')
  return {
    path: join(folder, target),
    package: `${name}@${version}`,
    extension: '.js',
    shipped: false,
  }
}

function readJson(name: string, text: string): { version?: unknown; exports?: unknown; main?: unknown } {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new PluginError(name, `its package.json is invalid: ${(cause as Error).message}`, cause)
  }
}

// Conditions of Node for `import`, which `require.resolve` does not know.
const CONDITIONS = new Set(['import', 'node', 'default'])

/** The file of the entry `.`: the first condition that applies, at each level. */
function targetOf(exports: unknown): unknown {
  if (typeof exports !== 'object' || exports === null) return exports
  const entries = Object.entries(exports)
  const main = entries.find(([key]) => key === '.') ?? entries.find(([key]) => CONDITIONS.has(key))
  return main && targetOf(main[1])
}
