import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

/** A word or phrase that readers misunderstand or do not search for, and the plain form to write instead. */
const WORDS: [pattern: RegExp, plain: string][] = [
  [/\bpass(?:es|ed|ing)? over\b/, 'ignored'],
  [/\banew\b/, 'again'],
  [/\b(?:goes|go|went|gone) on\b(?! (?:the|a|an|its|disk|top)\b)/, 'continues'],
  [/\bst(?:ands?|ood) in (?:a|the|its|this|that) (?:list|table|index)\b/, 'is listed'],
  [/\bst(?:ands?|anding|ood) for\b/, 'means'],
  [/\bt(?:ells?|old|elling) (?:\w+ )?apart\b/, 'distinguished'],
  [/\b(?:is|are|was|were|be|been) told\b(?! apart)/, 'is notified, returns, states'],
  [/\b(?:tells|says)\b(?! (?:\w+ )?apart)/, 'states, returns'],
  [/\bwhat is made (?:of|from|out of)\b/, 'video transformations, derivatives of …'],
  [/(?<!in )\bthe making of\b/, 'the transcode, the media job'],
  [/\bin the making\b|\bbeing made\b/, 'in progress'],
  [/\bfor good\b(?! (?:reasons?|measure|results?|quality)\b)/, 'permanently'],
  [/\bbeside\b/, 'next to, in addition to, compared with'],
  [/\b(?:is|are|was|were|has|have) none\b/, 'there is no …, invalid'],
  [/\b(?:URL|link|signature|token|secret)s? (?:has|have|had) ended\b/, 'has expired'],
  [/\bask(?:s|ed)? for\b/, 'requested'],
  [/\bmeanwhile\b/, 'in the meantime, since then'],
  [/\bkept\b/, 'stored, retained, cached'],
  [/\bgone\b(?! on)/, 'deleted, expired, disconnected'],
  [
    /\b(?:picture|image|derivative|thumbnail|frame|video|stream|waveform|file|link|token|secret)s?(?: that| which)?(?: (?:is|are|was|were|has been|have been))? made\b/,
    'rendered, created',
  ],
  [
    /\b(?:whoever|(?:some|no|every|any)body|someone|everyone|anyone|who asks)\b/,
    'the client, the caller, the operator',
  ],
]

const FENCED = /^ *```[\s\S]*?^ *```/gm
const GENERATED = /<!-- [\w ]+: made by npm run readme -->[\s\S]*?<!-- end of [\w ]+ -->/g
const CODE = /`(?:[^`\n]|\n(?!\n))+`/g
const TARGET = /\]\([^)\s]+\)/g

/** The text of a page that people write: without code, targets of links and generated tables, on the same lines. */
function prose(text: string): string {
  const blank = (part: string) => part.replace(/[^\n]/g, '_')
  return [FENCED, GENERATED, CODE, TARGET].reduce((rest, part) => rest.replace(part, blank), text)
}

/** Each hit in a text, as "line: word → plain form". A phrase may continue on the next line. */
function hits(text: string): string[] {
  const written = prose(text)
  return WORDS.flatMap(([pattern, plain]) =>
    [...written.matchAll(new RegExp(pattern.source.replaceAll(' ', '\\s+'), 'gi'))].map(
      ({ 0: word, index }) => {
        const line = written.slice(0, index).split('\n').length
        return `${line}: "${word.replace(/\s+/g, ' ')}" → ${plain}`
      },
    ),
  )
}

/** All pages. */
function pages(): string[] {
  const inDocs = readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((file) => join('docs', file))
  return [...readdirSync('.'), ...inDocs].filter((file) => file.endsWith('.md'))
}

describe('the English of the documentation', () => {
  it('uses plain words', () => {
    const files = pages()
    expect(files.length).to.be.above(50)
    const found = files.flatMap((file) => hits(readFileSync(file, 'utf8')).map((hit) => `${file}:${hit}`))
    expect(found, `\n${found.join('\n')}\n`).to.deep.equal([])
  })

  it('finds each word to avoid, with its line', () => {
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

  it('leaves code, targets of links, generated tables and good uses alone', () => {
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
