import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './run.js'

let registered

/** Imports a module of src, for scripts that use more than the programs in dist. @param {string} path below src */
export async function importSource(path) {
  // It would be a folder among the temporary files, which nobody removes.
  process.env.TSX_DISABLE_CACHE = '1'
  registered ??= import('tsx/esm/api').then(({ register }) => register())
  await registered
  return import(pathToFileURL(join(root, 'src', path)).href)
}
