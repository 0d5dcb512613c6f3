import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'

/** A script, and all scripts that it imports, directly or not. */
function withImports(script: string): string[] {
  const imports = [...readFileSync(script, 'utf8').matchAll(/from '(\.[^']+)'/g)]
  return [script, ...imports.flatMap(([, path = '']) => withImports(join(dirname(script), path)))]
}

// What npm reads to choose the files.
const READ_BY_NPM = /^(package\.json|\.(git|npm)ignore)$/

/** Copies a folder with empty files, apart from those that npm reads: it would compress 27 MB to list them. */
function copyNames(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const { name } = entry
    const [source, target] = [join(from, name), join(to, name)]
    if (entry.isDirectory()) {
      if (name !== 'node_modules' && name !== '.git') copyNames(source, target)
    } else if (entry.isFile()) writeFileSync(target, READ_BY_NPM.test(name) ? readFileSync(source) : '')
  }
}

// Issue 30: with those of the tests and the console, it was twice that. 7 MB verify passkeys.
const INSTALLED_MAX_MB = 280

describe('the packages that npm start installs', () => {
  it(`take at most ${INSTALLED_MAX_MB} MB`, () => {
    const { stdout } = spawnSync('du', ['-sm', 'node_modules'], { encoding: 'utf8' })
    expect(Number.parseInt(stdout, 10)).to.be.within(50, INSTALLED_MAX_MB)
  })
})

describe('the npm package', () => {
  let files: string[]
  before(() => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-package-'))
    copyNames('.', folder)
    const { stdout, stderr, status } = spawnSync('npm', ['pack', '--dry-run', '--json'], {
      cwd: folder,
      encoding: 'utf8',
    })
    rmSync(folder, { recursive: true, force: true })
    expect(status, stderr).to.equal(0)
    const [packed] = JSON.parse(stdout) as Array<{ files: Array<{ path: string }> }>
    files = packed?.files.map(({ path }) => path) ?? []
  })

  it('contains what npm start, npm run demo and npm run worker need', () => {
    const scripts = [...withImports('scripts/start.js'), ...withImports('scripts/demo.js')]
    const needed = ['package.json', 'config/chain.json', 'config/presets.json', 'scripts/node.sh', ...scripts]
    expect(files).to.include.members(needed)
  })

  it('contains the command, and what sluice/plugin and sluice/testing export, with types', () => {
    const { bin, exports } = JSON.parse(readFileSync('package.json', 'utf8'))
    const targets = Object.values(exports).flatMap((target) => Object.values(Object(target)).map(String))
    const isBundle = (path: string) => path.endsWith('.min.js')
    const sources = targets
      .filter((path) => path.length > 1 && !isBundle(path))
      .map((path) => path.replace(/^\.\/dist\//, ''))
    expect(files).to.include(bin.sluice)
    expect(sources.length).to.be.at.least(4)
    expect(sources.filter((path) => !existsSync(path.replace(/(\.d\.ts|\.js)$/, '.ts')))).to.deep.equal([])
  })

  it('has the same types for compilers that do not read exports (moduleResolution node)', () => {
    const { exports, typesVersions } = JSON.parse(readFileSync('package.json', 'utf8'))
    const types = Object.entries(exports as Record<string, { types?: string }>).flatMap(
      ([name, { types }]) => (types ? [[name.slice(2), [types.slice(2)]]] : []),
    )
    expect(types).to.have.length.above(5)
    expect(typesVersions).to.deep.equal({ '*': Object.fromEntries(types) })
  })

  it('contains the files of plugins that are not compiled', () => {
    const sources = readdirSync('plugins', { recursive: true, encoding: 'utf8' })
    const data = sources.filter((path) => /\.(bin|wasm)$/.test(path)).map((path) => `dist/plugins/${path}`)
    expect(data).to.include('dist/plugins/image/faces/blazeface.bin')
    if (existsSync('dist')) expect(files).to.include.members(data)
  })

  it('contains what sluice init writes, and the changelog that sluice upgrade prints', () => {
    const platforms = [
      'compose.yaml',
      'compose.small.yaml',
      'app.json',
      'Aptfile',
      'Dockerfile',
      '.env.example',
    ]
    const inDeploy = ['systemd/sluice.service', 'fly/fly.toml', 'render/render.yaml', 'init/compose.md']
    const chart = readdirSync('deploy/kubernetes/chart/templates').map(
      (name) => `kubernetes/chart/templates/${name}`,
    )
    expect(files).to.include.members([
      ...platforms,
      ...[...inDeploy, ...chart].map((path) => `deploy/${path}`),
    ])
    expect(files).to.include.members(['CHANGELOG.md', 'scripts/health.js'])
  })

  it('contains its licence and its manual', () => {
    expect(files).to.include.members(['LICENSE', 'README.md', 'docs/reference/configuration.md'])
  })

  it('contains no sources, tests or data', () => {
    expect(files.filter((path) => /^(dist\/)?test\/|^(src|data|plugins)\//.test(path))).to.deep.equal([])
  })
})
