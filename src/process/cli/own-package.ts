import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../project-root.ts'

/** The package that this process runs from. */
export interface OwnPackage {
  /** The folder with its package.json. */
  root: string
  version: string
  /** Whether npm can install it by its version. The workflow of releases removes `private`. */
  isPublished: boolean
  engines: object
  overrides: object
}

/** @param root a folder with a package.json */
export function ownPackage(root = projectRoot()): OwnPackage {
  const {
    version,
    private: isPrivate,
    engines,
    overrides,
  } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return { root, version, isPublished: isPrivate !== true, engines, overrides }
}

/** The text of a file of the package. @throws Error when it is missing, as in a container image */
export function textOf({ root }: Pick<OwnPackage, 'root'>, path: string): string {
  const file = join(root, path)
  if (!existsSync(file))
    throw new Error(`${file} is missing. Run the command of the npm package, outside of containers`)
  return readFileSync(file, 'utf8')
}

/** The name of the file that `npm pack` writes. */
export function tarballOf({ version }: Pick<OwnPackage, 'version'>): string {
  return `sluice-${version}.tgz`
}
