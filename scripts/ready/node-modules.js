import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { root, run, say } from './run.js'

/** Whether the program in the package of Helm runs here: it is for Linux on x64 only. */
export const hasHelm = process.platform === 'linux' && process.arch === 'x64'

/** The folders with packages that tests and checks need: the service, the console, the tests, the client of the benchmark, and Helm. */
const ALL_PACKAGES = ['.', 'dashboard', 'test', 'scripts/bench', ...(hasHelm ? ['scripts/helm'] : [])]

/** npm writes this file at the very end, so an incomplete installation does not have it. */
const INSTALLED = 'node_modules/.package-lock.json'

/** Installs the packages of all folders, at the same time: one installation waits for most of its time. */
export async function ensureAllPackages() {
  // All are awaited, also when one has failed: an installation that is cut off leaves an incomplete folder.
  const results = await Promise.allSettled(ALL_PACKAGES.map(ensurePackages))
  const failed = results.find(({ status }) => status === 'rejected')
  if (failed) throw failed.reason
}

/**
 * Installs the npm packages of a folder's package-lock.json, unless they are installed.
 *
 * @param {string} folder relative to the project: `.` is what the service and its build need, `dashboard` the console, `test` the
 *   tests and checks
 */
export async function ensurePackages(folder = '.') {
  if (hasPackages(folder)) return
  say(`Installing the npm packages${folder === '.' ? '' : ` of ${folder}`} (npm ci) ...`)
  // The build needs the development packages, which npm leaves out under NODE_ENV=production.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const stdio = ['ignore', process.stderr, process.stderr]
  const code = await run('npm', args, { cwd: join(root, folder), stdio })
  if (code !== 0) throw new Error(`npm ci failed with exit code ${code}.`)
}

/** Removes the packages of a folder, first the file that says that they are complete. */
export async function removePackages(folder) {
  await rm(join(root, folder, INSTALLED), { force: true })
  await rm(join(root, folder, 'node_modules'), { recursive: true, force: true })
}

/** Whether all packages of a folder are installed in the version of its lock. Optional ones may be for other platforms. */
export function hasPackages(folder) {
  if (!existsSync(join(root, folder, INSTALLED))) return false
  const [wanted, here] = ['package-lock.json', INSTALLED].map((file) => packagesOf(join(root, folder, file)))
  return Object.keys(wanted).every(
    (path) => path === '' || wanted[path].optional || here[path]?.version === wanted[path].version,
  )
}

const packagesOf = (lock) => JSON.parse(readFileSync(lock, 'utf8')).packages
