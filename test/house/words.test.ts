import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { lineOf, WORDS, wordsToAvoid } from '../support/texts/plain-words.ts'

const FENCED = /^ *```[\s\S]*?^ *```/gm
const GENERATED = /<!-- [\w ]+: made by npm run readme -->[\s\S]*?<!-- end of [\w ]+ -->/g
const CODE = /`(?:[^`\n]|\n(?!\n))+`/g
const TARGET = /\]\([^)\s]+\)/g

/** The text of a page that people write: without code, targets of links and generated tables, on the same lines. */
function prose(text: string): string {
  const blank = (part: string) => part.replace(/[^\n]/g, '_')
  return [FENCED, GENERATED, CODE, TARGET].reduce((rest, part) => rest.replace(part, blank), text)
}

/** Each hit in a page, as "line: word → plain form". */
function hits(text: string): string[] {
  const written = prose(text)
  return wordsToAvoid(written).map(
    ({ index, word, plain }) => `${lineOf(written, index)}: "${word}" → ${plain}`,
  )
}

/** All pages. */
function pages(): string[] {
  const inDocs = readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.startsWith('node_modules'))
    .map((file) => join('docs', file))
  // sluice init writes these.
  const ofInit = readdirSync('deploy/init').map((file) => join('deploy/init', file))
  return [...readdirSync('.'), ...inDocs, ...ofInit].filter((file) => file.endsWith('.md'))
}

describe('the English of the documentation', () => {
  it('uses plain words', () => {
    const files = pages()
    expect(files.length).to.be.above(50)
    const found = files.flatMap((file) => hits(readFileSync(file, 'utf8')).map((hit) => `${file}:${hit}`))
    expect(found, `\n${found.join('\n')}\n`).to.deep.equal([])
  })

  it('detects each word to avoid, with its line', () => {
    const bad = [
      'Bad ranges are passed over.',
      'It is rendered anew.',
      'The upload goes on.',
      'The file stands in the list.',
      'What it stands for is clear.',
      'The two are told apart.',
      'The caller is told of it.',
      'The header says so.',
      'What is made of videos needs ffmpeg.',
      'This ends the making of a video.',
      'The derivative is in the making.',
      'It is deleted for good.',
      'The record is beside the file.',
      'A number that is none is a 400.',
      'The link has ended.',
      'The width that was asked\nfor is used.',
      'Meanwhile it waits.',
      'The bytes are kept.',
      'The file is gone.',
      'The picture is made once.',
      'Whoever has the URL may read it.',
    ]
    expect(bad.length).to.equal(WORDS.length)
    for (const [i, text] of bad.entries()) {
      expect(hits(`# Page\n\n${text}`), text).to.have.lengthOf(1)
      expect(hits(`# Page\n\n${text}`)[0]).to.match(/^3: /)
      expect(hits(`# Page\n\n${text}`)[0]).to.contain(WORDS[i]?.[1])
    }
  })

  it('ignores code, link targets, generated tables and allowed uses', () => {
    const good = [
      '```js\n// kept for good\n```',
      'The state `gone` is final.',
      '[Files](kept.md#gone)',
      '<!-- parameters: made by npm run readme -->\n| kept |\n<!-- end of parameters -->',
      'The order is fixed for good reasons.',
      'Besides, all or none are stored.',
      'The row goes on the disk.',
      'A connection is made, and fixes are made.',
      'Sluice asks the engine for a forecast.',
    ]
    expect(good.flatMap(hits)).to.deep.equal([])
  })
})
