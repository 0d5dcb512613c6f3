// Bundles the service into a folder of a build: node scripts/bundle-server.js <folder>
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

/** What is started or imported by its path. What several of them import is a chunk, which exists once in a process. */
const ENTRIES = [
  ...['main', 'worker', 'cli', 'transformer', 'plugin', 'testing'],
  // For openapi.js.
  ...['assembly/shipped-parameters', 'http/documents/openapi/document'],
].map((name) => `src/${name}.ts`)

/** The packages that stay in node_modules. All others are bundled: Node takes a millisecond for each module that it loads. */
const EXTERNAL = [
  // Native code, WebAssembly, fonts and threads: found by their own places.
  'sharp',
  'classic-level',
  'wasm-vips',
  'libheif-js',
  '@hyzyla/pdfium',
  '@cornerstonejs/codec-openjpeg',
  'dejavu-fonts-ttf',
  'fluent-ffmpeg',
  'pino',
  // Only loaded for services that use them.
  '@aws-sdk/*',
  '@smithy/*',
  'bullmq',
  'ioredis',
]
// Below src, by which core/own-files.ts finds the build.
const CHUNKS = 'src/chunks/[name]-[hash]'
// Packages in the old module format load modules of Node by this function.
const REQUIRE =
  "import { createRequire as createRequireOfChunk } from 'node:module'; const require = createRequireOfChunk(import.meta.url);"

const [folder] = process.argv.slice(2)
const plugins = readdirSync('plugins', { recursive: true })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join('plugins', name))
const { metafile } = await build({
  entryPoints: [...ENTRIES, ...plugins],
  outdir: folder,
  outbase: '.',
  chunkNames: CHUNKS,
  bundle: true,
  splitting: true,
  external: EXTERNAL,
  banner: { js: REQUIRE },
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  logLevel: 'warning',
  // Imports for their types alone, see src/plugin.ts.
  logOverride: { 'ignored-bare-import': 'silent' },
})

const isBoundToPlace = (file) =>
  /\b(__dirname|__filename|import\.meta)\b/.test(
    readFileSync(file, 'utf8').replace(/\/\*.*?\*\/|\/\/.*/gs, ''),
  )
const bound = Object.keys(metafile.inputs).filter(
  (file) => file.includes('node_modules') && isBoundToPlace(file),
)
if (bound.length > 0)
  throw new Error(
    `These packages find files by their own place, so they must be external: ${bound.join(', ')}`,
  )
