import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'

// Not that of service.ts, which imports this file.
const PROJECT = join(import.meta.dirname, '..', '..', '..')
// From here, Node finds the packages of the tests and those of the service.
const BUILT = join(PROJECT, 'test', 'node_modules', '.built')
// Modules that find the project by their own place.
const PLACED = /\/(?:test\/support\/(?:service|programs\/built-script)|src\/process\/project-root)\.ts$/

// The lanes of a run share it: what one of them has built, the others need not build again.
const RUN = process.env.SLUICE_TEST_S3_FOLDER

const built = new Map<string, Promise<string>>()

/**
 * A program of this folder in plain JavaScript, with the service that it uses: it starts in half the time that tsx takes.
 * @param name of its file, without extension
 * @returns the path of what Node can run
 */
export function builtScript(name: string): Promise<string> {
  const known = built.get(name) ?? bundled(name, [`test/support/programs/${name}.ts`])
  built.set(name, known)
  return known
}

let transformer: Promise<string> | undefined

/** The folder of the process that transforms images, in plain JavaScript: `src/transformer.js` and `plugins`. */
export async function builtTransformer(): Promise<string> {
  transformer ??= bundled('transformer', [])
  return dirname(dirname(await transformer))
}

/**
 * Bundles programs, the process of images and the plugins, which share chunks, as a build of the service does.
 *
 * @returns the path of `src/${name}.js` in their folder
 */
async function bundled(name: string, programs: readonly string[]): Promise<string> {
  const plugins = (await readdir(join(PROJECT, 'plugins'), { recursive: true })).filter((file) =>
    file.endsWith('.ts'),
  )
  const folder = join(BUILT, name)
  const script = join(folder, 'src', `${name}.js`)
  const mark = join(folder, 'run')
  if (RUN !== undefined && (await readFile(mark, 'utf8').catch(() => '')) === RUN) return script
  const { outputFiles } = await build({
    absWorkingDir: PROJECT,
    entryPoints: [
      // The service looks for its plugins beside a folder of this name.
      ...programs.map((path) => ({ in: path, out: `src/${name}` })),
      ...['src/transformer.ts', ...plugins.map((file) => `plugins/${file}`)].map((path) => ({
        in: path,
        out: path.slice(0, -'.ts'.length),
      })),
    ],
    outdir: folder,
    chunkNames: 'src/chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    write: false,
    plugins: [placed],
  })
  for (const { path, contents } of outputFiles) await replace(path, contents)
  for (const file of await readdir(join(PROJECT, 'plugins/image/faces')))
    if (/\.(bin|wasm)$/.test(file)) {
      const path = join('plugins/image/faces', file)
      await replace(join(folder, path), await readFile(join(PROJECT, path)))
    }
  if (RUN !== undefined) await replace(mark, Buffer.from(RUN))
  return script
}

/** Lanes of tests build it at the same time: nobody reads half a file. */
async function replace(path: string, contents: Uint8Array): Promise<void> {
  const unfinished = `${path}.${process.pid}`
  await mkdir(dirname(path), { recursive: true })
  await writeFile(unfinished, contents)
  await rename(unfinished, path)
}

const placed: Plugin = {
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: PLACED }, async ({ path }) => ({
      loader: 'ts',
      contents: (await readFile(path, 'utf8')).replaceAll(
        'import.meta.dirname',
        JSON.stringify(join(PROJECT, dirname(relative(PROJECT, path)))),
      ),
    }))
  },
}
