import { spawnSync } from 'node:child_process'
import { expect } from 'chai'

describe('README.md', () => {
  it('has tables that say what the program reads', () => {
    const { status, stderr } = spawnSync('node', ['--import=tsx', 'scripts/readme.js', '--check'], {
      encoding: 'utf8',
    })
    expect(status, stderr).to.equal(0)
  })
})
