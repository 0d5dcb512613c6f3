import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { expect } from 'chai'

/** A file of each place of the graph: what one place imports of another. */
const PLACES: Record<string, string> = {
  main: 'src/main.ts',
  worker: 'src/worker.ts',
  cli: 'src/cli.ts',
  transformer: 'src/transformer.ts',
  app: 'src/app.ts',
  foundation: 'src/assembly/services.ts',
  backends: 'src/assembly/backends.ts',
  loaded: 'src/assembly/plugins.ts',
  process: 'src/process/web/banner.ts',
  http: 'src/http/delivery/send.ts',
  service: 'src/service/delivery/deliver.ts',
  pipeline: 'src/pipeline/plan/plan.ts',
  adapters: 'src/adapters/bucket/disk/disk.ts',
  engines: 'src/engines/image/sharp.ts',
  core: 'src/core/bytes/asset.ts',
  plugins: 'plugins/image/resize.ts',
  'what plugins share': 'plugins/image/shared.mts',
  config: 'config/load.ts',
  'a new folder': 'src/newcomer/first.ts',
}

/** The graph: where a file is planted, and the places it may import, its own among them. */
const GRAPH: Record<string, string[]> = {
  'src/main.ts': ['app', 'process', 'config', 'core'],
  'src/worker.ts': ['app', 'process', 'config', 'core'],
  'src/cli.ts': ['app', 'process', 'config', 'core'],
  'src/transformer.ts': ['process', 'pipeline', 'engines', 'core'],
  'src/process/planted.ts': ['process', 'core'],
  'src/process/apart/planted.ts': ['process', 'core'],
  'src/app.ts': Object.keys(PLACES).filter((place) => !['main', 'worker', 'cli', 'app'].includes(place)),
  'src/assembly/services.ts': Object.keys(PLACES).filter(
    (place) => !['main', 'worker', 'cli', 'app', 'foundation'].includes(place),
  ),
  'src/assembly/plugins.ts': Object.keys(PLACES).filter(
    (place) => !['main', 'worker', 'cli', 'app', 'loaded'].includes(place),
  ),
  'src/http/planted.ts': ['http', 'service', 'core'],
  'src/service/planted.ts': ['service', 'pipeline', 'core'],
  'src/pipeline/planted.ts': ['pipeline', 'core'],
  'src/adapters/planted.ts': ['adapters', 'core'],
  'src/adapters/bucket/planted.ts': ['adapters', 'core'],
  'src/engines/planted.ts': ['engines', 'core'],
  'src/core/planted.ts': ['core'],
  'src/core/ports/planted.ts': ['core'],
  'src/newcomer/planted.ts': ['a new folder'],
  'plugins/image/planted.ts': ['core', 'what plugins share'],
  'config/planted.ts': ['config'],
}

const IO = ['child_process', 'fs', 'fs/promises', 'http', 'https', 'net'].map((name) => `node:${name}`)

describe('import layers', () => {
  for (const [file, allowed] of Object.entries(GRAPH)) {
    it(`lets ${file} import ${allowed.join(', ')}, and nothing else`, () => {
      const places = Object.keys(PLACES).filter((place) => PLACES[place] !== file)
      const refused = refusedImports(
        file,
        places.map((place) => specifier(file, PLACES[place] ?? '')),
      )
      const expected = places.filter((place) => !allowed.includes(place))
      expect(refused).to.deep.equal(expected.map((place) => specifier(file, PLACES[place] ?? '')))
    })
  }

  for (const folder of ['src/core', 'src/core/ports']) {
    it(`keeps I/O and Express out of ${folder}`, () => {
      expect(refusedImports(`${folder}/planted.ts`, [...IO, 'express'])).to.deep.equal([...IO, 'express'])
      expect(refusedImports(`${folder}/planted.ts`, ['node:crypto', 'node:stream', 'zod'])).to.be.empty
    })
  }

  it('keeps Express out of service, and leaves it to http', () => {
    expect(refusedImports('src/service/planted.ts', ['express', 'p-limit'])).to.deep.equal(['express'])
    expect(refusedImports('src/http/planted.ts', ['express'])).to.be.empty
  })

  it('lets a plugin import packages', () => {
    expect(refusedImports('plugins/image/planted.ts', ['sharp', 'node:path'])).to.be.empty
  })

  it('refuses a path that takes a detour through an allowed folder', () => {
    const detours = {
      'src/main.ts': './core/../service/deliver.ts',
      'src/http/planted.ts': '../service/../adapters/clock.ts',
      'src/core/planted.ts': './ports/../../app.ts',
      'src/core/ports/planted.ts': '../ports/../../app.ts',
      'src/adapters/bucket/planted.ts': '../../core/../app.ts',
      'plugins/image/planted.ts': '../../src/core/../app.ts',
    }
    for (const [file, detour] of Object.entries(detours)) {
      expect(refusedImports(file, [detour]), file).to.deep.equal([detour])
    }
  })

  for (const form of [
    `import type { Disk } from '../adapters/clock.ts'`,
    `export * from '../adapters/clock.ts'`,
    `export const clock = await import('../adapters/clock.ts')`,
  ]) {
    it(`sees ${form}`, () => {
      expect(lint('src/http/planted.ts', form)).to.include('lint/style/noRestrictedImports:1')
    })
  }

  it('lets only config, scripts and tests read process.env', () => {
    const source = 'export const port = process.env.PORT'
    const readers = [...Object.keys(GRAPH), 'scripts/planted.js', 'test/planted.test.ts'].filter(
      (file) => !lint(file, source).includes('lint/style/noProcessEnv:1'),
    )
    expect(readers).to.deep.equal(['config/planted.ts', 'scripts/planted.js', 'test/planted.test.ts'])
  })
})

/** The import of `target` as `file` writes it. */
function specifier(file: string, target: string): string {
  const path = relative(dirname(file), target)
  return path.startsWith('.') ? path : `./${path}`
}

/** Those of the imports that the layers' rule refuses in this file. */
function refusedImports(file: string, specifiers: string[]): string[] {
  const source = specifiers.map((specifier) => `import '${specifier}'`).join('\n')
  const found = lint(file, source)
  return specifiers.filter((_, line) => found.includes(`lint/style/noRestrictedImports:${line + 1}`))
}

/** Plants the source under the project's biome.json in a folder of its own; what the linter finds, as `rule:line`. */
function lint(file: string, source: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-layers-'))
  try {
    copyFileSync('biome.json', join(folder, 'biome.json'))
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), source)
    const options = ['--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none']
    const biome = join(process.cwd(), 'node_modules/.bin/biome')
    const { stdout } = spawnSync(biome, ['lint', ...options], { cwd: folder, encoding: 'utf8' })
    const { summary, diagnostics } = JSON.parse(stdout) as Report
    expect(summary.unchanged, `files of ${file} that were read`).to.be.at.least(1)
    return diagnostics.map(({ category, location }) => `${category}:${location.start.line}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Report {
  summary: { unchanged: number }
  diagnostics: { category: string; location: { start: { line: number } } }[]
}
