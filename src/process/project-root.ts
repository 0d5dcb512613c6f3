import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder of package.json, for code in src as well as in dist. */
export function projectRoot(): string {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}
