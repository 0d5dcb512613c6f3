import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

type Packages = Record<string, { optionalDependencies?: Record<string, string> }>

/** Whether the lock has the package for a dependent at `path`, in its own `node_modules` or in one above it. */
const isLocked = (packages: Packages, path: string, name: string): boolean => {
  if (`${path && `${path}/`}node_modules/${name}` in packages) return true
  if (path === '') return false
  return isLocked(packages, path.slice(0, path.lastIndexOf('node_modules/')).replace(/\/$/, ''), name)
}

// npm leaves a build for another platform out of the lock when the registry does not have it. `npm ci` then refuses the
// lock everywhere, and so does `npm start` in a new clone.
describe('package-lock.json', () => {
  for (const folder of ['.', 'dashboard', 'test'])
    it(`has the optional packages of every platform: ${folder}`, () => {
      const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
        packages: Packages
      }
      const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
        Object.keys(optionalDependencies)
          .filter((name) => !isLocked(packages, path, name))
          .map((name) => `${path}: ${name}`),
      )
      expect(missing).to.deep.equal([])
    })
})
