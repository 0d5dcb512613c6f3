import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, run, say } from './run.js'

/** npm writes this file at the very end, so an incomplete installation does not have it. */
const INSTALLED = 'node_modules/.package-lock.json'

/** Installs the npm packages of package-lock.json, unless they are installed. */
export async function ensurePackages() {
  if (absent().length === 0) return
  say('Installing the npm packages (npm ci) ...')
  // The build needs the development packages, which npm leaves out under NODE_ENV=production.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const code = await run('npm', args, { stdio: ['ignore', process.stderr, process.stderr] })
  if (code !== 0) throw new Error(`npm ci failed with exit code ${code}.`)
}

/** The packages of package-lock.json that are not installed in this version. Optional ones may be for other platforms. */
function absent() {
  const wanted = packagesOf('package-lock.json')
  const here = existsSync(join(root, INSTALLED)) ? packagesOf(INSTALLED) : {}
  return Object.keys(wanted).filter(
    (path) => path !== '' && !wanted[path].optional && here[path]?.version !== wanted[path].version,
  )
}

function packagesOf(lock) {
  return JSON.parse(readFileSync(join(root, lock), 'utf8')).packages
}
