import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'

describe('docs/manual.md', () => {
  it('has tables that say what the program reads', () => {
    const { status, stderr } = spawnSync('node', ['--import=tsx', 'scripts/readme.js', '--check'], {
      encoding: 'utf8',
    })
    expect(status, stderr).to.equal(0)
  })
  it('has no word in its tables that would be taken for HTML, and not be seen', () => {
    const rows = readFileSync('docs/manual.md', 'utf8').split('\n')
    const plain = rows.filter((row) => row.startsWith('|')).map((row) => row.replace(/`[^`]*`/g, ''))
    expect(plain.filter((row) => /(^|[^\\])<[a-z]/i.test(row))).to.deep.equal([])
  })
})
