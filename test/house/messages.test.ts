// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are source text with templates
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { HOLE, literals } from '../support/texts/literals.ts'
import { lineOf, MESSAGE_WORDS, WORDS, wordsToAvoid } from '../support/texts/plain-words.ts'

const FOLDERS = ['src', 'plugins', 'config', 'scripts']

/** Literals that are no messages. */
const EXCEPTIONS: ReadonlyArray<[reason: string, pattern: RegExp]> = [
  ['`everyone` is a value of a variable', /\beveryone: all requests\./],
  ['a Lua script, whose words are names', /\bredis\.p?call\(|^\s*local \w/m],
]

/** Ends the code before an expected value, which `badParameter` continues with "for <parameter>". */
const EXPECTED = /\b(?:expected|EXPECTED)\w*\s*[:=]\s*$/

/** Two words in a row, of which one may be a value: a literal of one word is a name, a code or a state. */
const SENTENCE = new RegExp(`[\\p{L}${HOLE}]\\S*\\s+\\S*[\\p{L}${HOLE}]`, 'u')

/** Each hit in the messages of a source, as "line: word → plain form". */
function hits(source: string): string[] {
  return literals(source)
    .filter(({ text }) => SENTENCE.test(text) && !EXCEPTIONS.some(([, pattern]) => pattern.test(text)))
    .flatMap(({ text, at }) =>
      wordsToAvoid(text, [...WORDS, ...MESSAGE_WORDS]).map(({ index, ...hit }) => ({
        ...hit,
        at: at + index,
      })),
    )
    .map(({ at, word, plain }) => `${lineOf(source, at)}: "${word}" → ${plain}`)
}

function sources(): string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  ).filter((file) => /\.m?[jt]s$/.test(file) && !file.includes('node_modules'))
}

describe('the English of messages', () => {
  it('uses plain words', () => {
    const files = sources()
    expect(files.length).to.be.above(300)
    const found = files.flatMap((file) => hits(readFileSync(file, 'utf8')).map((hit) => `${file}:${hit}`))
    expect(found, `\n${found.join('\n')}\n`).to.deep.equal([])
  })

  it('has no comma between the expected value and "for <parameter>"', () => {
    const found = sources().flatMap((file) => {
      const source = readFileSync(file, 'utf8')
      return literals(source)
        .filter(({ text, at }) => text.endsWith(',') && EXPECTED.test(source.slice(0, at - 1)))
        .map(({ text, at }) => `${file}:${lineOf(source, at)}: ${text}`)
    })
    expect(found).to.deep.equal([])
  })

  it('reads each source to its end', () => {
    const lost = sources().filter((file) => {
      const source = readFileSync(file, 'utf8')
      return hits(`${source}\n'it is kept'`).length !== hits(source).length + 1
    })
    expect(lost).to.deep.equal([])
  })

  it('finds a word to avoid in each kind of literal, with its line', () => {
    const bad = [
      "new Problem({ detail: 'nothing was kept' })",
      'log.warn({}, "nobody\'s turn")',
      '`${client}: the file is kept`',
      "`${on ? 'it is kept' : name} `",
      '`first line\n${a}\nis gone for ${b} s`',
      "x = a / b / c('it is kept')",
      "x = /'/.test(a) ? 'it is kept' : b",
      'help: `a${{ b: `${c}` }}d it is kept`',
      '`${n} kept`',
      "'it is\\nkept'",
    ]
    const lines = [2, 2, 2, 2, 4, 2, 2, 2, 2, 2]
    for (const [i, text] of bad.entries()) {
      expect(hits(`// a\n${text}`), text).to.have.lengthOf(1)
      expect(hits(`// a\n${text}`)[0], text).to.match(new RegExp(`^${lines[i]}: `))
    }
  })

  it('finds each word that is to be avoided in messages only', () => {
    const bad = [
      'the job has ended',
      'the upload was made',
      'the name stands in a list',
      'the client is not told',
      'at most 2 but this would be one more',
      'no such upload, or not any more',
    ]
    expect(bad.length).to.equal(MESSAGE_WORDS.length)
    for (const [i, text] of bad.entries()) {
      const plain = MESSAGE_WORDS[i]?.[1] ?? ''
      expect(
        hits(`'${text}'`).filter((hit) => hit.endsWith(plain)),
        text,
      ).to.have.lengthOf(1)
    }
  })

  it('leaves comments, code, single words, regular expressions and Lua scripts alone', () => {
    const good = [
      '// The bytes are kept.',
      "/* 'It is kept.' */",
      '/** It says `it is kept`. */',
      "state: 'gone'",
      '`${kept} ${gone}`',
      '`${a(kept, gone)} of ${nobody}`',
      '/it is kept/.test(text)',
      "if (/[/']it is kept'/.test(text)) return",
      "`\nlocal kept = redis.call('GET', 'gone for good')\n`",
      "import { kept } from './gone/for/good.ts'",
    ]
    expect(good.flatMap(hits)).to.deep.equal([])
  })
})
