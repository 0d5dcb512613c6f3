import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { build } from 'esbuild'
import { PROJECT } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// The whole library in one file, as a page loads it.
const MAX_GZIP_BYTES = 11_000

describe('the package sluice/client', () => {
  const tsc = (...args: string[]) =>
    spawnSync(process.execPath, [join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc'), ...args], {
      encoding: 'utf8',
    })
  /** A project of a user, with the package as npm installs it. */
  let desk: string
  before(async function () {
    this.timeout(120_000)
    desk = await temporaryFolder()
    const installed = join(desk, 'node_modules', 'sluice')
    await mkdir(join(installed, 'dist'), { recursive: true })
    await symlink(join(PROJECT, 'package.json'), join(installed, 'package.json'))
    const { status, stdout } = tsc(
      '--project',
      join(PROJECT, 'client'),
      '--outDir',
      join(installed, 'dist', 'client'),
    )
    expect(status, stdout).to.equal(0)
  })
  after(() => rm(desk, { recursive: true }))

  it('has types for pages, without those of Node, that plugins can extend', async () => {
    const uses = await readFile(join(import.meta.dirname, 'types', 'uses.ts'), 'utf8')
    await writeFile(join(desk, 'uses.ts'), uses)
    await writeFile(join(desk, 'package.json'), '{"type": "module"}')
    const compilerOptions = {
      target: 'es2022',
      module: 'preserve',
      moduleResolution: 'bundler',
      strict: true,
    }
    const tsconfig = { compilerOptions: { ...compilerOptions, types: [], noEmit: true }, files: ['uses.ts'] }
    await writeFile(join(desk, 'tsconfig.json'), JSON.stringify(tsconfig))
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

  it('is small, and runs in Node from the path that package.json exports', async () => {
    const { outputFiles } = await build({
      stdin: { contents: `export * from 'sluice/client'`, resolveDir: desk },
      bundle: true,
      write: false,
      minify: true,
      format: 'esm',
      platform: 'browser',
    })
    const [bundle] = outputFiles
    const bytes = gzipSync(bundle?.contents ?? '').length
    expect(bytes).to.be.within(1000, MAX_GZIP_BYTES)
    await writeFile(
      join(desk, 'run.mjs'),
      `import { buildUrl } from 'sluice/client'; console.log(buildUrl('/a', { w: 1 }))`,
    )
    const { stdout, stderr } = spawnSync(process.execPath, [join(desk, 'run.mjs')], { encoding: 'utf8' })
    expect(stdout, stderr).to.equal('/a?w=1\n')
  })
})
