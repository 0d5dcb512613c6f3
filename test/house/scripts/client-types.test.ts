import { spawnSync } from 'node:child_process'
import { expect } from 'chai'

describe('the generated types of the client library', () => {
  it('match the source code', () => {
    const args = ['--import=tsx', 'scripts/client-types.js', '--check']
    const { status, stderr } = spawnSync('node', args, { encoding: 'utf8' })
    expect(status, stderr).to.equal(0)
  })
})
