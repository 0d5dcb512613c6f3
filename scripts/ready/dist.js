import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root, run, say } from './run.js'

// What a build is made from.
const FOLDERS = ['src', 'plugins', 'config']
const FILES = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json']
const dist = join(root, 'dist')
const stamp = join(dist, '.built-from')

/** Builds unless dist was built from the sources as they are now. */
export async function ensureBuilt() {
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== fingerprint()) await build()
}

/**
 * Compiles to a folder beside dist, then puts that in dist's place: who starts a server from dist meanwhile, as
 * another test run may, finds the old build or the new one, never half of one. A failing build changes nothing.
 */
export async function build() {
  const [next, last] = [join(root, 'dist-next'), join(root, 'dist-last')]
  const clean = () => [next, last].map((folder) => rmSync(folder, { recursive: true, force: true }))
  clean()
  say('Building dist ...')
  // Taken before the compiler reads them: a file saved meanwhile makes this build an old one.
  const builtFrom = fingerprint()
  try {
    const code = await run('node_modules/.bin/tsc', ['--project', 'tsconfig.build.json', '--outDir', next])
    if (code !== 0) throw new Error('The build failed, see the errors above. dist is unchanged.')
    // What package.json names as a command has to be one.
    const { bin = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    for (const file of Object.values(bin)) chmodSync(join(next, relative('dist', file)), 0o755)
    writeFileSync(join(next, '.built-from'), builtFrom)
    if (existsSync(dist)) renameSync(dist, last)
    renameSync(next, dist)
  } finally {
    clean()
  }
}

/** One hash over the names and bytes of all that a build is made from: the times of files say too little. */
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
