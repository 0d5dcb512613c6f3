import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { ensurePackages, hasPackages, removePackages } from './node-modules.js'
import { root, run, say } from './run.js'

const dist = join(root, 'dist')

/**
 * What a build consists of. A part is made from its sources (files and folders), or copied from the last build when they are
 * the same.
 */
const PARTS = [
  {
    name: 'server',
    output: ['src', 'plugins', 'config', 'openapi.json'],
    sources: [
      'tsconfig.json',
      'tsconfig.build.json',
      'package-lock.json',
      'scripts/bundle-server.js',
      'src',
      'plugins',
      'config',
    ],
    make: makeServer,
  },
  {
    name: 'client',
    output: ['client'],
    sources: ['tsconfig.json', 'package-lock.json', 'client'],
    make: makeClient,
  },
  {
    name: 'console',
    output: ['dashboard', 'api-reference'],
    sources: ['package-lock.json', 'client', 'dashboard', 'scripts/dashboard.js'],
    packages: 'dashboard',
    make: makeConsole,
  },
]

/**
 * Installs what the service needs, and builds, unless dist was built from the current sources.
 *
 * @param options.parts the parts of dist to build
 */
export async function ensureBuilt({ parts = PARTS } = {}) {
  const last = lastBuild()
  if (parts.some((part) => last[part.name] !== fingerprint(part))) await build({ parts })
  else await ensurePackages()
}

/**
 * As `ensureBuilt`, but leaves the console out when no build has it: it takes as long as the rest, and the server serves without it.
 *
 * @returns {Promise<boolean>} whether the console is still to be built
 */
export async function ensureServerBuilt() {
  const isMissing = lastBuild().console === undefined
  await ensureBuilt(isMissing ? { parts: PARTS.filter(({ name }) => name !== 'console') } : {})
  return isMissing
}

/**
 * Installs what is missing, and builds the parts whose sources have changed, at the same time, into a temporary folder, then
 * renames it to dist. A server that is started during the build, as by another test run, finds the old or the new build, never a
 * partial one. A failed build changes nothing.
 *
 * @param options.parts the parts that dist has afterwards
 */
export async function build({ parts = PARTS } = {}) {
  const [next, last] = [join(root, 'dist-next'), join(root, 'dist-last')]
  const clean = () => [next, last].map((folder) => rmSync(folder, { recursive: true, force: true }))
  clean()
  // Computed before the compiler runs: a file saved during the build makes this build out of date.
  const builtFrom = Object.fromEntries(parts.map((part) => [part.name, fingerprint(part)]))
  const before = lastBuild()
  const isChanged = (part) => before[part.name] !== builtFrom[part.name]
  // The packages of the console are removed after the build, unless `npm run setup` has installed them.
  const isKept = hasPackages('dashboard')
  // The commands in package.json must be executable. A ZIP of the repository has no modes.
  const { bin = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const file of Object.values(bin)) chmodSync(join(root, file), 0o755)
  try {
    const packages = new Set(parts.filter(isChanged).map(({ packages = '.' }) => packages))
    await all([...packages.add('.')].map((folder) => ensurePackages(folder)))
    say('Building dist ...')
    mkdirSync(next)
    await all(parts.map((part) => (isChanged(part) ? part.make(next) : reuse(part, next))))
    writeFileSync(join(next, '.built-from'), JSON.stringify(builtFrom))
    if (existsSync(dist)) renameSync(dist, last)
    renameSync(next, dist)
  } finally {
    clean()
    if (!isKept) await removePackages('dashboard')
  }
}

/** Waits for all, also when one has failed: what runs on would write into a folder that is removed. */
async function all(promises) {
  const failed = (await Promise.allSettled(promises)).find(({ status }) => status === 'rejected')
  if (failed) throw failed.reason
}

/** The fingerprint of each part of dist. */
function lastBuild() {
  const stamp = join(dist, '.built-from')
  if (!existsSync(stamp)) return {}
  try {
    return JSON.parse(readFileSync(stamp, 'utf8'))
  } catch {
    // Written by a version that built all parts as one.
    return {}
  }
}

async function reuse({ output }, folder) {
  for (const name of output) cpSync(join(dist, name), join(folder, name), { recursive: true })
}

async function makeServer(folder) {
  await all([
    compile('tsconfig.build.json', folder),
    script('bundle-server.js', [folder], 'The service could not be bundled'),
  ])
  copyFilesOfPlugins(join(folder, 'plugins'))
  await script('openapi.js', [folder], 'The API document could not be created')
}

async function makeClient(folder) {
  await compile('client', join(folder, 'client'))
  await script('bundle-uploader.js', [join(folder, 'client')], 'The uploader could not be bundled')
}

async function makeConsole(folder) {
  await script('dashboard.js', [join(folder, 'dashboard')], 'The console could not be bundled')
  copyReference(join(folder, 'api-reference'))
}

/** Copies the files that plugins read, with their licences. The compiler leaves them out. */
function copyFilesOfPlugins(folder) {
  const files = readdirSync(join(root, 'plugins'), { recursive: true })
  for (const file of files.filter((name) => /(\.bin|\.wasm|\/LICENSE)$/.test(name)))
    copyFileSync(join(root, 'plugins', file), join(folder, file))
}

/** Copies the files of the page `/docs/api`, so that the package is needed for builds only. */
function copyReference(folder) {
  const from = join(root, 'dashboard/node_modules/swagger-ui-dist')
  mkdirSync(folder)
  for (const file of ['swagger-ui-bundle.js', 'swagger-ui.css', 'LICENSE', 'NOTICE'])
    copyFileSync(join(from, file), join(folder, file))
}

async function compile(project, folder) {
  const code = await run('node_modules/.bin/tsc', ['--project', project, '--outDir', folder])
  if (code !== 0) throw new Error('The build failed, see the errors above. dist is unchanged.')
}

async function script(name, args, problem) {
  const code = await run(process.execPath, [join(root, 'scripts', name), ...args])
  if (code !== 0) throw new Error(`${problem}, see the error above. dist is unchanged.`)
}

/** A hash of the names and contents of all sources. File times are not reliable. */
function fingerprint({ sources }) {
  const hash = createHash('sha256')
  for (const file of sources.flatMap(filesOf).sort())
    hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

function filesOf(source) {
  if (/\.(json|js)$/.test(source)) return [source]
  return readdirSync(join(root, source), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(m?tsx?|js|json|css|html|svg|bin|wasm)$/.test(entry.name))
    .map((entry) => join(relative(root, entry.parentPath), entry.name))
    .filter((file) => !file.includes('node_modules'))
}
