import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'

/** A script, and all scripts that it imports, directly or not. */
function withImports(script: string): string[] {
  const imports = [...readFileSync(script, 'utf8').matchAll(/from '(\.[^']+)'/g)]
  return [script, ...imports.flatMap(([, path = '']) => withImports(join(dirname(script), path)))]
}

describe('the npm package', () => {
  let files: string[]
  before(() => {
    const { stdout, stderr, status } = spawnSync('npm', ['pack', '--dry-run', '--json'], { encoding: 'utf8' })
    expect(status, stderr).to.equal(0)
    const [packed] = JSON.parse(stdout) as Array<{ files: Array<{ path: string }> }>
    files = packed?.files.map(({ path }) => path) ?? []
  })

  it('contains what npm start, npm run demo and npm run worker need', () => {
    const scripts = [...withImports('scripts/start.js'), ...withImports('scripts/demo.js')]
    const needed = ['package.json', 'config/chain.json', 'config/presets.json', 'scripts/node.sh', ...scripts]
    expect(files).to.include.members(needed)
  })

  it('contains its licence and its manual', () => {
    expect(files).to.include.members(['LICENSE', 'README.md', 'docs/reference/configuration.md'])
  })

  it('contains no sources, tests or data', () => {
    expect(files.filter((path) => /^(src|test|data|plugins)\//.test(path))).to.deep.equal([])
  })
})
