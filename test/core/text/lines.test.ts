import { expect } from 'chai'
import { linesOf } from '../../../src/core/text/lines.ts'
import { rejection } from '../../support/rejection.ts'

async function* chunksOf(text: string, size: number) {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
}

async function lines(text: string, { size = 3, maxCharacters = 100 } = {}): Promise<string[]> {
  const found: string[] = []
  for await (const line of linesOf(chunksOf(text, size), { maxCharacters })) found.push(line)
  return found
}

describe('lines of a text', () => {
  const all: Array<[text: string, lines: string[]]> = [
    ['', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['\n\na\r\n b \r\n', ['', '', 'a', ' b ']],
    ['a\rb\u2028c', ['a\rb\u2028c']],
    ['{"a":1}\n{"b":2}', ['{"a":1}', '{"b":2}']],
  ]
  for (const [text, expected] of all)
    it(`of ${JSON.stringify(text)} are the same for chunks of any size`, async () => {
      for (const size of [1, 2, 3, 100]) expect(await lines(text, { size })).to.deep.equal(expected)
    })

  it('have a limit, before a longer one fills the memory', async () => {
    expect(await lines('12345\n12345', { maxCharacters: 5 })).to.deep.equal(['12345', '12345'])
    let read = 0
    async function* endless() {
      for (; read < 1000; read += 1) yield 'x'.repeat(10)
    }
    const all = linesOf(endless(), { maxCharacters: 95 })
    expect(String(await rejection(all.next()))).to.include('expected lines of at most 95 characters')
    expect(read).to.equal(9)
    for (const size of [1, 100])
      expect(String(await rejection(lines('123456\n1', { size, maxCharacters: 5 })))).to.include('at most 5')
  })
})
