import { expect } from 'chai'
import sharp from 'sharp'
import { assetFromBytes, lengthOf } from '../../../src/core/bytes/asset.ts'
import { text } from '../../../src/engines/image/documents/text.ts'
import { linesOnPage } from '../../../src/engines/image/documents/text-lines.ts'
import { excerptOf } from '../../../src/engines/image/excerpts/excerpt.ts'
import { mutated } from '../../support/media/mutated.ts'
import { everyNth, sized } from '../../support/sized.ts'

const options = { maxPixels: 10_000_000, check: () => {} }
const COLUMN = 13
const LINE = 27
const MARGIN = 84

const pageOf = async (content: string | Buffer) => (await text.decode(Buffer.from(content), options)).bytes

/** Whether a page has ink in a column of a line, both from 0. */
async function inkOf(content: string | Buffer): Promise<(line: number, column: number) => boolean> {
  const { data, info } = await sharp(await pageOf(content))
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return (line, column) => {
    const [left, top] = [Math.round(MARGIN + column * COLUMN), Math.round(MARGIN + line * LINE)]
    for (let y = top + 4; y < top + LINE - 2; y += 1)
      for (let x = left + 2; x < left + COLUMN - 2; x += 1)
        if ((data[y * info.width + x] ?? 255) < 128) return true
    return false
  }
}

describe('the page of a text', () => {
  it('has each letter in its line and column', async () => {
    const lines = ['', '', '    indented', 'a\tb', '', 'M'.repeat(100)]
    const hasInk = await inkOf(lines.join('\r\n'))
    const shown = [[], [], [4, 5, 6, 7, 8, 9, 10, 11], [0, 4], [], Array.from({ length: 80 }, (_, i) => i)]
    for (const [line, columns] of shown.entries())
      for (let column = 0; column < 86; column += 1)
        expect(hasInk(line, column), `${line} ${column}`).to.equal(columns.includes(column))
  })

  it('has 58 lines', async () => {
    const hasInk = await inkOf('M\n'.repeat(100))
    expect([hasInk(57, 0), hasInk(58, 0), hasInk(59, 0)]).to.deep.equal([true, false, false])
  })

  it('is white without letters', async () => {
    for (const blank of everyNth(2, [' ', '\n\n', '\ufeff'])) {
      const { channels } = await sharp(await pageOf(blank)).stats()
      expect(channels.map(({ min }) => min)).to.deep.equal([255, 255, 255])
    }
  })

  it('shows markup as it is written', async () => {
    const markup = '<span size="40pt">M</span>&amp;M'
    const hasInk = await inkOf(`${markup}\nM`)
    for (const [column, letter] of [...markup].entries())
      expect(hasInk(0, column), `${column}`).to.equal(letter !== ' ')
    expect([hasInk(1, 0), hasInk(1, 1)]).to.deep.equal([true, false])
  })

  it('is the same in each encoding', async () => {
    const content = 'Grüße, café\n'
    const usual = await pageOf(content)
    const utf16 = Buffer.from(`\ufeff${content}`, 'utf16le')
    for (const bytes of [
      utf16,
      Buffer.from(utf16).swap16(),
      `\ufeff${content}`,
      Buffer.from(content, 'latin1'),
    ])
      expect((await pageOf(bytes)).equals(usual)).to.equal(true)
  })

  it('has no control characters, and no marks that turn the direction', () => {
    const [line] = linesOnPage('a\u0000b\u001b[31m\u202ec\u2066\ufdd0\ud800d')
    expect(line).to.equal('a\ufffdb\ufffd[31m\ufffdc\ufffd\ufffd\ufffdd')
    expect(linesOnPage('a\u200db\u{1f468}\u200d\u{1f469}')).to.deep.equal([
      'a\u200db\u{1f468}\u200d\u{1f469}',
    ])
    expect(linesOnPage('\u6f22'.repeat(50))).to.deep.equal(['\u6f22'.repeat(40)])
  })

  it('is read from the start of the file', async () => {
    const bytes = Buffer.alloc(5_000_000, 'line\n')
    const asset = assetFromBytes(bytes, { mediaType: 'text/csv; charset=utf-8', lastModified: new Date(0) })
    let read = 0
    const open: typeof asset.open = (how) => {
      read += how?.range ? lengthOf(how.range) : asset.size
      return asset.open(how)
    }
    const { signal } = new AbortController()
    expect((await excerptOf({ ...asset, open }, signal))?.size).to.equal(65_536)
    expect(read).to.equal(65_536)
  })

  it('is drawn, whatever the bytes are', async () => {
    const files = ['# Title\n\n* text\n', '<a>\u05d0\u0645\u202e\u{1f600}\u0301&lt;\t</a>\r\n'].map((line) =>
      Buffer.from(line.repeat(20)),
    )
    const all = [...mutated(files, { count: sized(200, 2000), spared: 0 })]
    for (const bytes of all.slice(0, sized(5, 2000))) await pageOf(bytes)
    for (const bytes of all)
      for (const line of linesOnPage(bytes.toString('latin1'))) expect(line.length).to.be.at.most(80)
  })
})
