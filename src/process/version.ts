import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from './project-root.ts'

/** The version of Sluice, from package.json: `1.0.0`. */
export function version(): string {
  return JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8')).version
}
