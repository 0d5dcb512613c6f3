import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { context } from 'esbuild'
import { writePage } from '../dashboard/build/page.js'
import { separateStyles } from '../dashboard/build/separate-styles.js'
import { styles } from '../dashboard/build/styles.js'
import { ensurePackages } from './ready/node-modules.js'
import { command, root, say } from './ready/run.js'

const HELP = `node scripts/dashboard.js [--watch] [<folder>]

Bundles the console into a folder, by default dist/dashboard, and compresses its files once, so that no request has to.
--watch bundles it again after each change, which npm run dev serves: npm run dashboard.`

// Pictures and fonts are compressed already.
const COMPRESSIBLE = /\.(js|css|svg)$/

const console_ = join(root, 'dashboard')

await command(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { watch: { type: 'boolean' }, help: { type: 'boolean' } },
  })
  if (values.help) return console.log(HELP)
  await ensurePackages('dashboard')
  const folder = resolve(root, positionals[0] ?? 'dist/dashboard')
  const bundle = await context(optionsFor(folder, values.watch))
  if (values.watch) return bundle.watch()
  await bundle.rebuild().finally(() => bundle.dispose())
})

/** @returns {import('esbuild').BuildOptions} */
function optionsFor(folder, isWatching = false) {
  return {
    entryPoints: {
      main: join(console_, 'src', 'main.tsx'),
      'early-theme': join(console_, 'build', 'early-theme.js'),
    },
    outdir: join(folder, 'assets'),
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.svg': 'file' },
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    absWorkingDir: root,
    plugins: [styles(sources), separateStyles(), finish(folder, isWatching)],
  }
}

/** The texts of all sources of the console, in which Tailwind finds the classes. */
async function sources() {
  const names = await readdir(join(console_, 'src'), { recursive: true })
  return Promise.all(
    names.filter((name) => /\.tsx?$/.test(name)).map((name) => readFile(join(console_, 'src', name), 'utf8')),
  )
}

/** Completes each build: the page, compressed files, and no file of an earlier build. */
function finish(folder, isWatching) {
  return {
    name: 'finish',
    setup: (build) =>
      build.onEnd(async ({ metafile, errors }) => {
        if (errors.length > 0 || metafile === undefined) return
        const assets = join(folder, 'assets')
        const built = new Set(Object.keys(metafile.outputs).map((path) => basename(path)))
        for (const name of readdirSync(assets)) if (!built.has(name)) rmSync(join(assets, name))
        for (const name of built) if (COMPRESSIBLE.test(name)) compress(join(assets, name))
        await writePage(folder, join(console_, 'index.html'), metafile)
        if (isWatching) say('The console is built. Reload the page.')
      }),
  }
}

function compress(path) {
  const bytes = readFileSync(path)
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }))
}
