import { spawnSync } from 'node:child_process'
import { cp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { installClient } from '../support/programs/client-package.ts'
import { stepsOf } from '../support/programs/how-to-page.ts'
import { PROJECT } from '../support/service.ts'

const EXAMPLES = join(PROJECT, 'examples')

// test/long/frameworks installs the frameworks, builds the examples and opens them.
describe('the examples', () => {
  it('and the guides name the package of this version', async () => {
    const { version } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8'))
    const guides = join(PROJECT, 'docs', 'how-to')
    const pages = (await readdir(guides)).filter((file) => file.endsWith('.md'))
    const apps = (await readdir(EXAMPLES)).filter((name) => !name.includes('.') && name !== 'plugins')
    expect(apps).to.include('nextjs')
    const files = [
      ...pages.map((page) => join(guides, page)),
      ...apps.map((name) => join(EXAMPLES, name, 'package.json')),
    ]
    const packages = await Promise.all(
      files.map(async (file) => (await readFile(file, 'utf8')).match(/sluice-[\d.]+\.tgz/g) ?? []),
    )
    expect(packages.flat()).to.have.length.above(apps.length)
    expect(new Set(packages.flat())).to.deep.equal(new Set([`sluice-${version}.tgz`]))
  })

  const guides: Array<[page: string, folder: (file: string) => string]> = [
    ['nextjs.md', () => 'nextjs'],
    ['nuxt-and-astro.md', (file) => (file.startsWith('nuxt') ? 'nuxt' : 'astro')],
  ]
  for (const [page, folder] of guides)
    it(`have the files that docs/how-to/${page} shows`, async () => {
      const files = (await stepsOf(page)).flatMap((step) => ('file' in step ? step : []))
      expect(files.length).to.be.at.least(2)
      for (const { file, code } of files)
        expect(code, file).to.equal(await readFile(join(EXAMPLES, folder(file), file), 'utf8'))
    })

  it('have valid types, except where the packages of a framework are necessary', async () => {
    const desk = await installClient()
    try {
      for (const name of ['@types', 'express', 'react'])
        await symlink(join(PROJECT, 'node_modules', name), join(desk, 'node_modules', name))
      await cp(EXAMPLES, desk, { recursive: true })
      const compilerOptions = {
        target: 'es2022',
        lib: ['es2023', 'dom', 'dom.iterable'],
        module: 'preserve',
        moduleResolution: 'bundler',
        jsx: 'react-jsx',
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        types: ['node'],
      }
      const files = ['image-loader.ts', 'sluice.ts', 'app/upload-link/route.ts'].map(
        (file) => `nextjs/${file}`,
      )
      await writeFile(join(desk, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
      const tsc = join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc')
      const { status, stdout } = spawnSync(process.execPath, [tsc, '--project', desk], { encoding: 'utf8' })
      expect(status, stdout).to.equal(0)
    } finally {
      await rm(desk, { recursive: true })
    }
  })
})
