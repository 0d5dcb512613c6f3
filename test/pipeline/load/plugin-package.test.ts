import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { loadConfig } from '../../../config/load.ts'
import { loadPlugins } from '../../../src/pipeline/load/load.ts'
import { PluginError } from '../../../src/pipeline/load/plugin-error.ts'
import { pluginPackage } from '../../../src/pipeline/load/plugin-package.ts'
import { rejection } from '../../support/rejection.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { CHAIN, dropIn, ENGINES } from './drop-ins.ts'

describe('plugins that are npm packages', () => {
  let folder: string
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /** Installs a package with these files, as npm does. */
  async function install(name: string, packageJson: object | string, files: Record<string, string>) {
    const path = join(folder, 'node_modules', name)
    await mkdir(path, { recursive: true })
    const text =
      typeof packageJson === 'string' ? packageJson : JSON.stringify({ version: '1.2.3', ...packageJson })
    for (const [file, content] of Object.entries({ 'package.json': text, ...files })) {
      await mkdir(join(path, file, '..'), { recursive: true })
      await writeFile(join(path, file), content)
    }
  }

  const manifests: Array<[description: string, packageJson: object]> = [
    ['main', { type: 'module', main: './dist/plugin.js' }],
    ['exports as a text', { type: 'module', exports: './dist/plugin.js' }],
    [
      'exports with conditions',
      { type: 'module', exports: { require: './no.cjs', import: './dist/plugin.js' } },
    ],
    [
      'exports of several entries',
      {
        type: 'module',
        exports: { './x': './x.js', '.': { types: './a.d.ts', default: './dist/plugin.js' } },
      },
    ],
  ]
  for (const [description, packageJson] of manifests)
    it(`are found by ${description}, from a folder below`, async () => {
      await install('@acme/duotone', packageJson, { 'dist/plugin.js': dropIn('duotone') })
      await mkdir(join(folder, 'below'))
      const found = await pluginPackage('@acme/duotone', join(folder, 'below'))
      const { transforms } = await loadPlugins({ folders: [found], engines: ENGINES, chain: CHAIN })
      expect(transforms.map(({ plugin }) => plugin.name)).to.deep.equal(['duotone'])
    })

  it('get another fingerprint with each version of the package', async () => {
    const fingerprint = async (version: string) => {
      await install('x', { type: 'module', version }, { 'index.js': dropIn('x') })
      const found = await pluginPackage('x', folder)
      const { transforms } = await loadPlugins({ folders: [found], engines: ENGINES, chain: CHAIN })
      return transforms[0]?.fingerprint
    }
    const first = await fingerprint('1.0.0')
    expect(await fingerprint('1.0.0')).to.equal(first)
    expect(await fingerprint('1.0.1'))
      .to.be.a('string')
      .and.not.equal(first)
  })

  it('that are missing or invalid stop the start, with what to do', async () => {
    const message = async (name: string) => {
      const error = await rejection(pluginPackage(name, folder))
      expect(error).to.be.instanceOf(PluginError)
      return (error as Error).message
    }
    expect(await message('missing')).to.equal(
      `plugin missing: the npm package is not installed in ${folder}. Run npm install missing there, or remove it from PLUGINS`,
    )
    await install('without', { exports: { './other': './other.js' } }, {})
    expect(await message('without')).to.include('expected exports["."] or main')
    await install('broken', '{', {})
    expect(await message('broken')).to.include('its package.json is invalid')
  })

  it('are named in PLUGINS, and a path is refused', async () => {
    const names = (PLUGINS: string) => loadConfig({ PLUGINS }).PLUGINS
    expect(names('sluice-plugin-duotone,@acme/x y')).to.deep.equal(['sluice-plugin-duotone', '@acme/x', 'y'])
    for (const path of ['./x', '../x', '/x', '@acme', '@acme/../x', 'a/b', 'X'])
      expect(() => names(path), path).to.throw('PLUGINS: expected names of npm packages')
    const { dependencies } = JSON.parse(await readFile('package.json', 'utf8'))
    expect(names(Object.keys(dependencies).join(' '))).to.have.length.above(10)
  })
})
