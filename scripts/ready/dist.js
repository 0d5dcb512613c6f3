import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root, run, say } from './run.js'

// The sources of a build.
const FOLDERS = ['src', 'plugins', 'config']
const FILES = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json']
const dist = join(root, 'dist')
const stamp = join(dist, '.built-from')

/** Builds, unless dist was built from the current sources. */
export async function ensureBuilt() {
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== fingerprint()) await build()
}

/**
 * Compiles to a temporary folder, then renames it to dist. A server that is started during the build, as by another test
 * run, finds the old or the new build, never a partial one. A failed build changes nothing.
 */
export async function build() {
  const [next, last] = [join(root, 'dist-next'), join(root, 'dist-last')]
  const clean = () => [next, last].map((folder) => rmSync(folder, { recursive: true, force: true }))
  clean()
  say('Building dist ...')
  // Computed before the compiler runs: a file saved during the build makes this build out of date.
  const builtFrom = fingerprint()
  try {
    const code = await run('node_modules/.bin/tsc', ['--project', 'tsconfig.build.json', '--outDir', next])
    if (code !== 0) throw new Error('The build failed, see the errors above. dist is unchanged.')
    // The commands in package.json must be executable. A ZIP of the repository has no modes.
    const { bin = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    for (const file of Object.values(bin)) chmodSync(join(root, file), 0o755)
    writeFileSync(join(next, '.built-from'), builtFrom)
    if (existsSync(dist)) renameSync(dist, last)
    renameSync(next, dist)
  } finally {
    clean()
  }
}

/** A hash of the names and contents of all sources. File times are not reliable. */
function fingerprint() {
  const hash = createHash('sha256')
  for (const file of [...FILES, ...FOLDERS.flatMap(sourcesIn).sort()]) {
    hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

function sourcesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(m?ts|json)$/.test(entry.name))
    .map((entry) => join(relative(root, entry.parentPath), entry.name))
}
