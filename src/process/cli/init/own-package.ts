import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../project-root.ts'

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

/** The text of a file of the package. */
export function textOf({ root }: Pick<OwnPackage, 'root'>, path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** The name of the file that `npm pack` writes. */
export function tarballOf({ version }: Pick<OwnPackage, 'version'>): string {
  return `sluice-${version}.tgz`
}
