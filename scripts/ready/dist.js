import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { root, run, say } from './run.js'

// The sources of a build.
const FOLDERS = ['src', 'plugins', 'config', 'client', 'dashboard']
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
    await compile('tsconfig.build.json', next)
    await compile('client', join(next, 'client'))
    if ((await run(process.execPath, [join(root, 'scripts', 'bundle.js'), join(next, 'client')])) !== 0)
      throw new Error('The uploader could not be bundled, see the error above. dist is unchanged.')
    // The commands in package.json must be executable. A ZIP of the repository has no modes.
    const { bin = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    for (const file of Object.values(bin)) chmodSync(join(root, file), 0o755)
    copyFilesOfPlugins(join(next, 'plugins'))
    copyReference(join(next, 'api-reference'))
    if ((await run(process.execPath, [join(root, 'scripts', 'openapi.js'), next])) !== 0)
      throw new Error('The API document could not be created, see the error above. dist is unchanged.')
    if ((await run(process.execPath, [join(root, 'scripts', 'dashboard.js'), join(next, 'dashboard')])) !== 0)
      throw new Error('The console could not be bundled, see the error above. dist is unchanged.')
    writeFileSync(join(next, '.built-from'), builtFrom)
    if (existsSync(dist)) renameSync(dist, last)
    renameSync(next, dist)
  } finally {
    clean()
  }
}

/** Copies the files that plugins read, with their licences. The compiler leaves them out. */
function copyFilesOfPlugins(folder) {
  const files = readdirSync(join(root, 'plugins'), { recursive: true })
  for (const file of files.filter((name) => /(\.bin|\.wasm|\/LICENSE)$/.test(name)))
    copyFileSync(join(root, 'plugins', file), join(folder, file))
}

/** Copies the files of the page `/docs/api`, so that the package is needed for builds only. */
function copyReference(folder) {
  const from = join(root, 'node_modules', 'swagger-ui-dist')
  mkdirSync(folder)
  for (const file of ['swagger-ui-bundle.js', 'swagger-ui.css', 'LICENSE', 'NOTICE'])
    copyFileSync(join(from, file), join(folder, file))
}

async function compile(project, folder) {
  const code = await run('node_modules/.bin/tsc', ['--project', project, '--outDir', folder])
  if (code !== 0) throw new Error('The build failed, see the errors above. dist is unchanged.')
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
    .filter((entry) => entry.isFile() && /\.(m?tsx?|json|css|html|svg|bin|wasm)$/.test(entry.name))
    .map((entry) => join(relative(root, entry.parentPath), entry.name))
}
