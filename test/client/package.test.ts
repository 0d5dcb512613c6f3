import { spawnSync } from 'node:child_process'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { build, type Plugin } from 'esbuild'
import { installClient } from '../support/programs/client-package.ts'
import { PROJECT } from '../support/service.ts'

// The whole library in one file, as a page loads it.
const MAX_GZIP_BYTES = 12_000

describe('the package sluice/client', () => {
  const tsc = (...args: string[]) =>
    spawnSync(process.execPath, [join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc'), ...args], {
      encoding: 'utf8',
    })
  /** A project of a user. */
  let desk: string
  before(async function () {
    this.timeout(120_000)
    desk = await installClient()
  })
  after(() => rm(desk, { recursive: true }))

  const resolutions: Array<[name: string, options: object]> = [
    ['a bundler', { module: 'preserve', moduleResolution: 'bundler' }],
    ['Node', { module: 'nodenext' }],
  ]
  for (const [name, options] of resolutions)
    it(`has types for pages, without those of Node, that plugins can extend, resolved as by ${name}`, async () => {
      const files = ['frameworks.ts', 'uses.ts']
      for (const file of files) await cp(join(import.meta.dirname, 'types', file), join(desk, file))
      await writeFile(join(desk, 'package.json'), '{"type": "module"}')
      const compilerOptions = { target: 'es2022', ...options, strict: true, types: [], noEmit: true }
      await writeFile(join(desk, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
      const { status, stdout } = tsc('--project', desk)
      expect(status, stdout).to.equal(0)
    })

  it('imports no package and no module of Node, except React in sluice/react', async () => {
    const folder = join(desk, 'node_modules', 'sluice', 'dist', 'client')
    const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.js'))
    expect(files.length).to.be.above(20)
    for (const file of files) {
      const code = await readFile(join(folder, file), 'utf8')
      const imports = [...code.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*['"]([^'"]+)['"]/g)].map(
        ([, name]) => name,
      )
      expect(
        imports.filter((name) => {
          const isOwn = /^\.\.?\/[\w./-]+\.js$/.test(name ?? '')
          return !isOwn && !(name === 'react' && file.startsWith('react/'))
        }),
        file,
      ).to.deep.equal([])
    }
  })

  /** What is loaded on first use, by import(). */
  const later: Plugin = {
    name: 'later',
    setup: ({ onResolve }) =>
      onResolve({ filter: /./ }, ({ kind, path }) =>
        kind === 'dynamic-import' ? { path, external: true } : undefined,
      ),
  }
  /** The bytes that a page with these exports loads at its start, minified, before compression. */
  const bundled = async (contents: string) => {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: desk },
      bundle: true,
      write: false,
      minify: true,
      format: 'esm',
      platform: 'browser',
      external: ['react'],
      plugins: [later],
    })
    return outputFiles[0]?.contents ?? new Uint8Array()
  }

  const sizes: Array<[exported: string, maxBytes: number]> = [
    [`{ buildUrl } from 'sluice/client'`, 600],
    [`{ buildUrl, srcset, url } from 'sluice/client'`, 1200],
    [`{ createUploader } from 'sluice/client'`, 13_500],
    // Without the uploader, which is ten times as large.
    [`{ SluiceImage } from 'sluice/react'`, 5000],
    [`{ default } from 'sluice/next'`, 1200],
    [`{ default } from 'sluice/nuxt-image'`, 2000],
    [`{ default } from 'sluice/astro'`, 3000],
  ]
  for (const [exported, maxBytes] of sizes)
    it(`adds at most ${maxBytes} bytes to a page that uses ${exported}`, async () => {
      const { length } = await bundled(`export ${exported}`)
      expect(length).to.be.within(100, maxBytes)
    })

  it('is small, and runs in Node from the path that package.json exports', async () => {
    const bytes = gzipSync(await bundled(`export * from 'sluice/client'`)).length
    expect(bytes).to.be.within(1000, MAX_GZIP_BYTES)
    await writeFile(
      join(desk, 'run.mjs'),
      `import { buildUrl } from 'sluice/client'; console.log(buildUrl('/a', { w: 1 }))`,
    )
    const { stdout, stderr } = spawnSync(process.execPath, [join(desk, 'run.mjs')], { encoding: 'utf8' })
    expect(stdout, stderr).to.equal('/a?w=1\n')
  })
})
