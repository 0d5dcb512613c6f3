import { spawnSync } from 'node:child_process'
import { cp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { build } from 'esbuild'
import { installClient } from '../../support/programs/client-package.ts'
import { PROJECT } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'

// Without React.
const UPLOADER_MAX_GZIP_BYTES = 20_500

describe('the packages sluice/uploader and sluice/react', () => {
  /** A project of a user. */
  let desk: string
  before(async function () {
    this.timeout(120_000)
    desk = await installClient()
    await writeFile(join(desk, 'package.json'), '{"type": "module"}')
    for (const name of ['react', 'react-dom', '@types', 'csstype'])
      await symlink(join(PROJECT, 'dashboard/node_modules', name), join(desk, 'node_modules', name))
  })
  after(() => rm(desk, { recursive: true }))
  const node = (...args: string[]) => spawnSync(process.execPath, args, { cwd: desk, encoding: 'utf8' })
  const gzipped = async (contents: string, external: string[] = []) => {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: desk },
      bundle: true,
      write: false,
      minify: true,
      format: 'esm',
      platform: 'browser',
      external,
    })
    return gzipSync(outputFiles[0]?.contents ?? '').length
  }

  it('are small', async () => {
    expect(await gzipped(`import 'sluice/uploader'`)).to.be.within(1000, UPLOADER_MAX_GZIP_BYTES)
    const react = `export * from 'sluice/react'`
    expect(await gzipped(react, ['react'])).to.be.within(1000, UPLOADER_MAX_GZIP_BYTES + 3000)
  })

  it('leave the uploader out of pages that only show images', async () => {
    const image = `export { SluiceImage } from 'sluice/react'`
    expect(await gzipped(image, ['react'])).to.be.within(1000, 3500)
  })

  it('can be imported on a server', () => {
    const code = `import 'sluice/uploader'; import { SluiceImage, useUpload } from 'sluice/react'
      console.log(typeof useUpload, typeof SluiceImage)`
    const { stdout, stderr } = node('--input-type=module', '--eval', code)
    expect(stdout, stderr).to.equal('function object\n')
  })

  it('mark the modules that need a browser for the app router of Next.js', async () => {
    const isClient = async (name: string) => {
      const path = join(desk, 'node_modules', 'sluice', 'dist', 'client', 'react', `${name}.js`)
      return /^['"]use client['"]/.test(await readFile(path, 'utf8'))
    }
    expect([await isClient('uploader'), await isClient('use-upload')]).to.deep.equal([true, true])
    expect(await isClient('image')).to.equal(false)
  })

  itLong('are built into examples/react by Vite', async () => {
    const app = join(desk, 'app')
    await cp(join(PROJECT, 'examples', 'react'), app, { recursive: true })
    await symlink(join(PROJECT, 'test/node_modules/vite'), join(desk, 'node_modules/vite'))
    const { status, stdout, stderr } = node('node_modules/vite/bin/vite.js', 'build', 'app')
    expect(status, stderr).to.equal(0)
    expect(stdout).to.match(/index-\S+\.js/)
    // Not a part that the page loads on first use.
    const isEntry = (file: string) => /^index-.*\.js$/.test(file)
    const [script = ''] = (await readdir(join(app, 'dist', 'assets'))).filter(isEntry)
    expect(await readFile(join(app, 'dist', 'assets', script), 'utf8')).to.include('sluice-uploader')
  })

  it('have types', async () => {
    await cp(join(PROJECT, 'test', 'client', 'types', 'react.tsx'), join(desk, 'react.tsx'))
    const compilerOptions = {
      target: 'es2022',
      module: 'preserve',
      moduleResolution: 'bundler',
      jsx: 'react-jsx',
      strict: true,
      types: [],
      noEmit: true,
    }
    await writeFile(join(desk, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['react.tsx'] }))
    const { status, stdout } = node(
      join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc'),
      '--project',
      '.',
    )
    expect(status, stdout).to.equal(0)
  })
})
