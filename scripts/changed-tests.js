import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './ready/run.js'

// They import everything: most tests start the whole service, by test/support. A module of it counts only for the tests that import it
// in another way, or that lie in the folder of its name.
const WHOLE = ['src/app.ts', 'src/http/endpoints.ts']
const SUPPORT = 'test/support/'
const HOUSE = 'test/house/'
const HTTP = 'test/http/'
const CODE = /\.[cm]?[jt]sx?$/

/** The files that differ from a commit, committed or not, and those that git does not track yet. @param base `HEAD` or a branch */
export function changedFiles(base) {
  const git = (...args) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean)
  return [
    ...git('diff', '-z', '--name-only', base, '--'),
    ...git('ls-files', '-z', '--others', '--exclude-standard'),
  ]
}

/**
 * The tests that a change can affect: those that import a changed file, directly or not; those in the folder of its name
 * (`test/http/aliases` for `src/http/aliases/set.ts`); without such a folder, those of HTTP that contain its routes; and for a text, or code that no test
 * imports, those that name it. A text affects those of the house, too.
 *
 * @param {readonly string[]} changed paths from the root of the project
 * @param {Map<string, string[]>} importsOf as {@link graphOf} returns it for the tests
 */
export function affectedTests(changed, tests, importsOf) {
  const code = changed.filter((path) => CODE.test(path))
  const texts = changed.filter((path) => !CODE.test(path))
  const folders = code.flatMap(folderOfTests)
  const routes = new Set(code.flatMap(routesInFolderOf))
  const names = [
    ...texts.map((path) => path.split('/').at(-1)),
    // The build has the same path, and another ending.
    ...code.filter((path) => !importsOf.has(path)).map((path) => path.replace(/\.m?tsx?$/, '.js')),
  ]
  const isNamedIn = new Map(
    [...importsOf.keys()]
      .filter((path) => path.startsWith('test/'))
      .map((path) => [path, names.some((name) => textOf(path).includes(name))]),
  )
  return tests.filter((test) => {
    if (folders.some((folder) => test.startsWith(folder))) return true
    if (texts.length > 0 && test.startsWith(HOUSE)) return true
    if (test.startsWith(HTTP) && routes.size > 0 && containsOne(textOf(test), routes)) return true
    return imported(test, importsOf).some((path) => code.includes(path) || isNamedIn.get(path))
  })
}

/**
 * For a module of `src/http` without a folder of tests of its name: the fixed beginnings of the routes in its folder, which its tests contain. For one without
 * routes, such as a guard in front of all endpoints: what all tests contain.
 */
function routesInFolderOf(path) {
  const folder = dirname(path)
  if (!folder.startsWith('src/http') || folderOfTests(path).length > 0) return []
  const names = folder !== 'src/http' && existsSync(join(root, folder)) ? readdirSync(join(root, folder)) : []
  const texts = names.filter((name) => CODE.test(name)).map((name) => textOf(`${folder}/${name}`))
  const routes = texts.flatMap((text) =>
    [...text.matchAll(/route: '[A-Z]+ (\/[^:*']*)/g)].map(([, route]) => route),
  )
  return routes.length > 0 ? routes : ['']
}

const containsOne = (text, parts) => [...parts].some((part) => text.includes(part))

const textOf = (path) => readFileSync(join(root, path), 'utf8')

/** The folder of the tests of a module, for one of `src` at least two levels deep. */
function folderOfTests(path) {
  if (path.startsWith('dashboard/')) return ['test/dashboard/']
  if (path.startsWith('plugins/') || path.startsWith('src/engines/')) return ['test/pipeline/']
  if (!path.startsWith('src/')) return []
  let folder = dirname(path).replace(/^src/, 'test')
  while (!existsSync(join(root, folder))) folder = dirname(folder)
  return folder.split('/').length > 2 ? [`${folder}/`] : []
}

/** The files that each file imports, from these tests on. */
export async function graphOf(tests) {
  // With the first run, packages are not there yet when this module is loaded.
  const { build } = await import('esbuild')
  const { metafile } = await build({
    absWorkingDir: root,
    stdin: { contents: tests.map((path) => `import './${path}'`).join('\n'), resolveDir: root },
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'silent',
  })
  const entries = Object.entries(metafile.inputs)
  return new Map(
    entries.map(([path, { imports }]) => [
      path,
      imports.filter((one) => !one.external).map((one) => one.path),
    ]),
  )
}

/** All files that a file imports, itself included. */
function imported(file, importsOf) {
  const found = new Set([file])
  for (const path of found) {
    if (WHOLE.includes(path)) continue
    for (const next of importsOf.get(path) ?? [])
      if (!path.startsWith(SUPPORT) || next.startsWith('test/')) found.add(next)
  }
  return [...found]
}
