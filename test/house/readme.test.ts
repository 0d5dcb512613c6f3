import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { knownFormat } from '../../src/core/media/formats.ts'
import { demuxerOf } from '../../src/engines/ffmpeg/input.ts'
import { imageReaderOf } from '../../src/engines/image/readers.ts'
import type { CorpusOutcome } from '../support/media/corpus.ts'

const PAGES = [
  'configuration',
  'image-parameters',
  'video-parameters',
  'audio-parameters',
  'document-parameters',
  'client-rules',
]

describe('what is generated from the source code', () => {
  it('matches it: the tables of docs/reference, and the types of the client library', () => {
    // In one process: most of the time goes into loading the source code.
    const scripts = ['client-types', 'readme'].map((name) => `await import('./scripts/${name}.js')`)
    const args = ['--import=tsx', '--input-type=module', '--eval', scripts.join('; '), '--', '--check']
    const { status, stderr } = spawnSync('node', args, { encoding: 'utf8' })
    expect(status, stderr).to.equal(0)
  })
})

describe('the generated tables of docs/reference', () => {
  for (const page of PAGES) {
    it(`have no word in ${page}.md that Markdown would read as HTML and hide`, () => {
      const rows = readFileSync(join('docs', 'reference', `${page}.md`), 'utf8').split('\n')
      const plain = rows.filter((row) => row.startsWith('|')).map((row) => row.replace(/`[^`]*`/g, ''))
      expect(plain).to.have.length.above(3)
      expect(plain.filter((row) => /(^|[^\\])<[a-z]/i.test(row))).to.deep.equal([])
    })
  }

  it('name what transforms a format, exactly if the corpus has a transformed file of it', () => {
    const text = readFileSync(join('test', 'corpus', 'expected.json'), 'utf8')
    const outcomes = Object.values(JSON.parse(text) as Record<string, CorpusOutcome>)
    // The corpus requests pictures, which a sound has only as a waveform.
    const shown = outcomes.filter(({ group }) => group === 'image' || group === 'video')
    const transformed = shown.filter(({ transformed: outcome }) => outcome.startsWith('200 '))
    const isNamed = (name: string) =>
      (imageReaderOf(knownFormat(name)) ?? demuxerOf(knownFormat(name))) !== undefined
    const names = [...new Set(shown.map(({ format }) => format))]
    expect(names.filter(isNamed)).to.have.members([...new Set(transformed.map(({ format }) => format))])
  })
})

/** The default of each variable, as the reference has it; empty where there is none. */
function defaults(): Map<string, string> {
  const page = readFileSync(join('docs', 'reference', 'configuration.md'), 'utf8')
  const rows = page.matchAll(/^\| `([A-Z][A-Z0-9_]+)` \| (?:`([^`]*)`)? *\|/gm)
  return new Map([...rows].map(([, name = '', value = '']) => [name, value]))
}

describe('README.md', () => {
  it('states the defaults of variables correctly', () => {
    const rows = readFileSync('README.md', 'utf8').matchAll(
      /^\| `([A-Z][A-Z0-9_]+)`.*? \| (?:`([^`]*)`|created at the first start)? *\|/gm,
    )
    const given = [...rows].map(([, name = '', value = '']) => [name, value])
    expect(given).to.have.length.within(8, 12)
    const real = defaults()
    expect(given).to.deep.equal(given.map(([name = '']) => [name, real.get(name)]))
  })

  it('is short', () => {
    for (const [page, most] of [
      ['README.md', 150],
      ['ARCHITECTURE.md', 200],
    ] as const)
      expect(readFileSync(page, 'utf8').split('\n').length - 1, page).to.be.at.most(most)
  })
})

describe('.env.example', () => {
  it('has known variables only, with their defaults', () => {
    const lines = readFileSync('.env.example', 'utf8').matchAll(/^(#?)([A-Z][A-Z0-9_]+)=(.*)$/gm)
    const given = [...lines].map(([, mark, name = '', value]) => ({ name, value, isSet: mark === '' }))
    const real = defaults()
    expect(given.map(({ name }) => name).filter((name) => !real.has(name))).to.deep.equal([])
    const wrong = given.filter(
      ({ name, value, isSet }) => isSet && name !== 'BASE_URL' && real.get(name) !== value,
    )
    expect(wrong).to.deep.equal([])
  })
})
