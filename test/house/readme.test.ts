import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const PAGES = ['configuration', 'image-parameters', 'video-parameters', 'audio-parameters']

describe('the generated tables of docs/reference', () => {
  it('say what the program reads', () => {
    const { status, stderr } = spawnSync('node', ['--import=tsx', 'scripts/readme.js', '--check'], {
      encoding: 'utf8',
    })
    expect(status, stderr).to.equal(0)
  })

  for (const page of PAGES) {
    it(`have no word in ${page}.md that would be taken for HTML, and not be seen`, () => {
      const rows = readFileSync(join('docs', 'reference', `${page}.md`), 'utf8').split('\n')
      const plain = rows.filter((row) => row.startsWith('|')).map((row) => row.replace(/`[^`]*`/g, ''))
      expect(plain).to.have.length.above(3)
      expect(plain.filter((row) => /(^|[^\\])<[a-z]/i.test(row))).to.deep.equal([])
    })
  }
})

describe('README.md', () => {
  it('is short enough to be read', () => {
    expect(readFileSync('README.md', 'utf8').split('\n').length).to.be.at.most(200)
  })
})
