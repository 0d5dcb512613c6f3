import { spawnSync } from 'node:child_process'
import { expect } from 'chai'

describe('docs/reference/formats.md', () => {
  it('lists all formats of the program', () => {
    const { status, stderr } = spawnSync('node', ['--import=tsx', 'scripts/formats.js', '--check'], {
      encoding: 'utf8',
    })
    expect(status, stderr).to.equal(0)
  })
})
