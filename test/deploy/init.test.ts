import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { expect } from 'chai'
import { parse } from 'smol-toml'
import { VARIABLES } from '../../config/schema.ts'
import { filesOf } from '../../src/process/cli/init/files.ts'
import { kindOf, PLATFORM_NAMES, type Platform, type Storage } from '../../src/process/cli/init/platforms.ts'
import { commandsUnder } from '../../src/process/cli/init/readme.ts'
import { FILL_IN } from '../../src/process/cli/init/settings.ts'
import { ownPackage } from '../../src/process/cli/own-package.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { FLY, HEROKU, RENDER } from './schemas.ts'
import { documents } from './yaml.ts'

const PUBLISHED = { ...ownPackage(), isPublished: true }
const ajv = new Ajv({ allErrors: true, strict: false })
const yaml = (text: string) => documents(text)[0] as Record<string, never>

/** What `sluice init` writes. */
function written(
  platform: Platform,
  { storage, own = PUBLISHED }: { storage?: Storage; own?: typeof PUBLISHED } = {},
) {
  const choices = { platform, storage: storage ?? kindOf(platform).storages[0], domain: 'files.example.com' }
  const { files, settings } = filesOf(choices, { own, app: 'my-files' })
  const read = (path: string) => files.get(path) ?? expect.fail(`${path} is missing`)
  return { files, settings, read }
}

function expectValid(schema: object, value: unknown) {
  expect(ajv.validate(schema, value), ajv.errorsText()).to.equal(true)
}

/** The lines that the project's file does not have. */
function ownLines(text: string, file: string): string[] {
  const known = readFileSync(file, 'utf8').split('\n')
  return text.split('\n').filter((line) => !known.includes(line))
}

const NOTE = '# Written by sluice init. README.md has the commands.'

describe('the files that sluice init writes', () => {
  for (const platform of PLATFORM_NAMES)
    it(`have variables that Sluice knows, with valid values: ${platform}`, () => {
      const { settings } = written(platform)
      const known = VARIABLES as Record<string, { read(text: string): unknown }>
      for (const [name, value] of Object.entries(settings)) {
        // Of the apt buildpack.
        if (name === 'LD_LIBRARY_PATH') continue
        expect(known, name).to.have.property(name)
        if (value !== FILL_IN) expect(known[name]?.read(value), `${name}=${value}`).not.to.equal(undefined)
      }
    })

  it('have the same text for the platform as the project, apart from names and places', () => {
    const compose = written('compose')
    expect(ownLines(compose.read('compose.yaml'), 'compose.small.yaml')).to.deep.equal([
      NOTE,
      "name: 'my-files'",
      "    image: 'my-files'",
      '    env_file: .env',
      "      - '127.0.0.1:3000:3000'",
    ])
    expect(ownLines(written('fly').read('fly.toml'), 'deploy/fly/fly.toml')).to.deep.equal([
      NOTE,
      "app = 'my-files'",
    ])
    expect(ownLines(written('render').read('render.yaml'), 'deploy/render/render.yaml')).to.deep.equal([NOTE])
    expect(ownLines(compose.read('Dockerfile'), 'Dockerfile')).to.have.length(6)
    expect(compose.read('Dockerfile')).to.match(/^RUN npm install .*^RUN find node_modules .*^FROM debian/ms)
    const kubernetes = written('kubernetes')
    const chart = 'deploy/kubernetes/chart'
    const paths = readdirSync(chart, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.\w+$/.test(path),
    )
    expect(paths).to.include.members(['Chart.yaml', 'templates/web.yaml', 'values.schema.json'])
    for (const path of paths)
      expect(kubernetes.read(`chart/${path}`)).to.equal(readFileSync(join(chart, path), 'utf8'))
  })

  it('are valid for Heroku, Fly, Render and the chart', () => {
    expectValid(HEROKU, JSON.parse(written('heroku').read('app.json')))
    expectValid(FLY, parse(written('fly').read('fly.toml')))
    expectValid(RENDER, yaml(written('render').read('render.yaml')))
    const { read } = written('kubernetes')
    const values = yaml(read('values.yaml'))
    expectValid(JSON.parse(read('chart/values.schema.json')), {
      ...yaml(read('chart/values.yaml')),
      ...values,
    })
    expect(values).to.include({ baseUrl: 'https://files.example.com' })
  })

  for (const storage of ['disk', 's3'] as const)
    it(`have services for compose that get all settings, and no empty one: ${storage}`, () => {
      const { read, settings } = written('compose', { storage })
      const text = read('compose.yaml')
      const { services, 'x-sluice': base } = yaml(text) as unknown as {
        services: Record<string, object>
        'x-sluice'?: object
      }
      expect(base ?? services.sluice).to.include({ build: '.', image: 'my-files', env_file: '.env' })
      expect(Object.keys(services)).to.include(storage === 's3' ? 'web' : 'sluice')
      const required = [...text.matchAll(/\$\{(\w+):\?([^}]*)\}/g)]
      expect(settings).to.include.keys(...required.map(([, name = '']) => name), 'APP_SECRET')
      for (const [, , message] of required) expect(message).to.equal('set it in .env')
    })

  it('have strings for compose, also when the name of the folder is a number or null', () => {
    for (const app of ['2026', 'null']) {
      const choices = { platform: 'compose', storage: 'disk', domain: undefined } as const
      const { files } = filesOf(choices, { own: PUBLISHED, app })
      const { name, services } = yaml(files.get('compose.yaml') ?? '') as unknown as {
        name: unknown
        services: { sluice: object }
      }
      expect(name).to.equal(app)
      expect(services.sluice).to.deep.include({ image: app, ports: ['3000:3000'] })
    }
  })

  it('let only the proxy of the machine reach the service with a domain', () => {
    for (const platform of ['node', 'systemd'] as const)
      expect(written(platform).settings).to.include({ HOST: '127.0.0.1', TRUST_PROXY: '1' })
    expect(written('compose', { storage: 's3' }).read('compose.yaml')).to.include(
      "\n      - '127.0.0.1:3000-3009:3000'\n",
    )
  })

  it('have commands for Heroku and systemd in the installed package', async () => {
    const procfile = written('heroku').read('Procfile')
    const paths = [...procfile.matchAll(/(?<= )\S+\.(?:sh|js)/g)].map(([path]) => path)
    expect(paths).to.have.length.above(4)
    for (const path of paths) expect(path).to.match(/^node_modules\/sluice\/(scripts|dist)\//)
    const unit = written('systemd').read('sluice.service')
    expect(unit).to.include('\nWorkingDirectory=/opt/sluice/node_modules/sluice\n')
    const folder = await temporaryFolder()
    try {
      const file = join(folder, 'sluice.service')
      await writeFile(file, unit)
      const args = ['verify', '--man=no', '--recursive-errors=no', file]
      const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
      expect((stdout + stderr).split('\n').filter((line) => line.includes('sluice.service'))).to.deep.equal(
        [],
      )
      expect(status).to.equal(0)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('install the package by its version, or from a file in the folder that is not published', () => {
    const { version } = PUBLISHED
    const dependency = (own: typeof PUBLISHED) =>
      JSON.parse(written('compose', { own }).read('package.json')).dependencies.sluice
    expect(dependency(PUBLISHED)).to.equal(version)
    const local = { ...PUBLISHED, isPublished: false }
    expect(dependency(local)).to.equal(`file:sluice-${version}.tgz`)
    expect(written('compose', { own: local }).read('Dockerfile')).to.include(
      '\nCOPY package*.json *.tgz ./\n',
    )
    expect(written('systemd', { own: local }).read('README.md')).to.include(
      `\nsudo cp package.json sluice-${version}.tgz /opt/sluice\n`,
    )
    expect(written('systemd', { own: local }).read('README.md')).to.include(
      '\nsudo cp package.json sluice-<version>.tgz /opt/sluice-new\n',
    )
  })

  it('have blocks of commands that a shell can read', () => {
    for (const platform of PLATFORM_NAMES) {
      const readme = written(platform).read('README.md')
      const blocks = ['Start', 'Upload a file', 'Upgrade', 'Back up'].flatMap((title) =>
        commandsUnder(title, readme),
      )
      expect(blocks.length, platform).to.be.at.least(4)
      for (const block of blocks) {
        const script = block.replace(/<[\w ]+>/g, 'x')
        const { stderr } = spawnSync('sh', ['-n'], { input: script, encoding: 'utf8' })
        expect(stderr, block).to.equal('')
      }
    }
  })
})

describe('npm create sluice', () => {
  it('is a package with the command sluice init, which is published with each release', () => {
    const folder = 'deploy/create-sluice'
    const { name, bin, dependencies } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
    expect({ name, dependencies }).to.deep.equal({ name: 'create-sluice', dependencies: { sluice: '*' } })
    const command = join(folder, bin['create-sluice'])
    expect(statSync(command).mode & 0o111).to.equal(0o111)
    expect(readFileSync(command, 'utf8')).to.include('\nexec sluice init "$@"\n')
    expect(readFileSync('.github/workflows/release.yml', 'utf8')).to.include(`working-directory: ${folder}\n`)
  })
})
