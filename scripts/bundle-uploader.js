// Bundles the uploader of a build into one file, for pages without a bundler: node scripts/bundle-uploader.js <folder of the client>
import { join } from 'node:path'
import { build } from 'esbuild'

const [folder] = process.argv.slice(2)
await build({
  entryPoints: [join(folder, 'uploader.js')],
  outfile: join(folder, 'uploader.min.js'),
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  logLevel: 'warning',
})
