import { expect } from 'chai'
import { formatOfMediaType } from '../../../src/core/media/formats.ts'
import { watchScripts } from '../../../src/core/media/scripts.ts'

const SVG = formatOfMediaType('image/svg+xml')
const TEXT = formatOfMediaType('text/plain')

/** The scripts of bytes that come in pieces of this length, in memory that is used again. */
function watched(bytes: Buffer, { format = TEXT, length = 3 } = {}) {
  const watch = watchScripts(format)
  const memory = Buffer.alloc(length)
  for (let at = 0; at < bytes.length; at += length)
    watch?.add(memory.subarray(0, bytes.copy(memory, 0, at, at + length)))
  return watch?.scripts()
}

describe('watchScripts', () => {
  it('finds the scripts of a text in UTF-8 and UTF-16, whose characters the pieces cut in two', () => {
    const text = 'naïve 漢字 ひらがな ไทย हिन्दी 한국어 Ω'
    const expected = ['Chinese', 'Hindi', 'Japanese', 'Korean', 'Thai']
    expect(watched(Buffer.from(text))).to.deep.equal(expected)
    expect(watched(Buffer.from(`\ufeff${text}`, 'utf16le'))).to.deep.equal(expected)
    expect(watched(Buffer.from('naïve'))).to.deep.equal([])
    expect(watched(Buffer.alloc(0))).to.deep.equal([])
  })

  it('reads the character references of an SVG, which a text has as they are', () => {
    const svg = Buffer.from('<svg><text>&#xE01;&#26085; &#99999999; &#x110000;</text></svg>')
    expect(watched(svg, { format: SVG })).to.deep.equal(['Chinese', 'Thai'])
    expect(watched(svg)).to.deep.equal([])
  })

  it('reads the first 256 KB, and no other format', () => {
    const late = (bytes: number) => Buffer.concat([Buffer.alloc(bytes, ' '), Buffer.from('ก')])
    expect(watched(late(256 * 1024 - 3), { length: 65_536 })).to.deep.equal(['Thai'])
    expect(watched(late(256 * 1024), { length: 65_536 })).to.deep.equal([])
    expect(watchScripts(formatOfMediaType('image/jpeg'))).to.equal(undefined)
  })
})
