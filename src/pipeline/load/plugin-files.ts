import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sha256 } from '../../core/bytes/digest.ts'
import { PluginError } from './plugin-error.ts'

/** A folder of plugin files, including its subfolders; or the file of a plugin in an npm package. */
export interface PluginFolder {
  path: string
  /** Name and version of the npm package, `sluice-plugin-duotone@1.0.0`. `path` is then its main file. */
  package?: string
  /** `.js` or `.ts` */
  extension: string
  /** Whether its plugins are part of Sluice. Shipped plugins need no fingerprint of their text. */
  shipped: boolean
  /** Whether the folder may be missing. */
  optional?: boolean
}

/** The default export of a plugin's file, not checked yet. */
export interface PluginFile {
  /** Its path, for messages. */
  file: string
  candidate: object
  shipped: boolean
  /** Returns a text that differs for each change of the plugin: the digest of a drop-in file. */
  release(): Promise<string>
}

/** Imports the plugins of a folder, one after the other. @throws PluginError */
export async function* pluginFiles(folder: PluginFolder): AsyncGenerator<PluginFile> {
  for (const file of await filesOf(folder))
    yield {
      file,
      candidate: await importDefault(file),
      shipped: folder.shipped,
      // A package has other files too, and its version changes with them.
      release: async () => (folder.shipped ? '' : sha256(await readFile(file)) + (folder.package ?? '')),
    }
}

/**
 * A mounted Kubernetes ConfigMap is a folder of symbolic links into a hidden folder next to them. So this follows links, and
 * takes each file once, under the first of its names.
 */
async function filesOf({
  path,
  package: ofPackage,
  extension,
  shipped,
  optional,
}: PluginFolder): Promise<string[]> {
  if (ofPackage !== undefined) return [path]
  const names = await readdir(path, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && optional) return []
    throw new PluginError(path, `the folder cannot be read: ${error.message}`, error)
  })
  const files = new Map<string, string>()
  for (const name of names.sort()) {
    const hidden = name.split('/').some((segment) => segment.startsWith('.') || segment === 'node_modules')
    if (hidden || !name.endsWith(extension) || name.endsWith('.d.ts')) continue
    const file = join(path, name)
    // Sluice's own folders have no links.
    if (shipped) {
      files.set(file, file)
      continue
    }
    const real = await realpath(file)
    if ((await stat(real)).isFile() && !files.has(real)) files.set(real, file)
  }
  return [...files.values()]
}

/** Imported modules, by path. Node caches them too, but calls the loaders of modules, such as tsx, at each import. */
const imported = new Map<string, { default?: unknown }>()

async function importDefault(file: string): Promise<object> {
  let module: { default?: unknown }
  try {
    module = imported.get(file) ?? (await import(pathToFileURL(file).href))
    imported.set(file, module)
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
