// Bundles the console, and compresses its files once, so that no request has to: node scripts/dashboard.js <folder>
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'
import { root } from './ready/run.js'

// Pictures and fonts are compressed already.
const COMPRESSIBLE = /\.(js|css|svg)$/

const folder = resolve(process.argv[2])
await build({
  configFile: join(root, 'dashboard', 'vite.config.ts'),
  mode: 'production',
  logLevel: 'warn',
  build: { outDir: folder },
})
for (const file of readdirSync(folder, { recursive: true })) {
  if (!COMPRESSIBLE.test(file)) continue
  const path = join(folder, file)
  const bytes = readFileSync(path)
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }))
}
