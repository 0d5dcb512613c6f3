import { expect } from 'chai'
import { type Exif, readExif } from '../../../src/core/media/exif.ts'
import { photograph } from '../../support/media/images.ts'

interface Entry {
  tag: number
  type: number
  count: number
  /** What stands in the entry itself. */
  value: number
}

/** An EXIF block with one directory, and bytes behind it. */
function block(
  entries: readonly Entry[],
  { behind = Buffer.alloc(0), order = 'II' }: { behind?: Uint8Array; order?: string } = {},
): Buffer {
  const bytes = Buffer.alloc(10 + 12 * entries.length + 4)
  const u16 = (value: number, at: number) =>
    order === 'II' ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at)
  const u32 = (value: number, at: number) =>
    order === 'II' ? bytes.writeUInt32LE(value, at) : bytes.writeUInt32BE(value, at)
  bytes.write(order, 'latin1')
  u16(42, 2)
  u32(8, 4)
  u16(entries.length, 8)
  for (const [i, { tag, type, count, value }] of entries.entries()) {
    u16(tag, 10 + 12 * i)
    u16(type, 12 + 12 * i)
    u32(count, 14 + 12 * i)
    u32(value, 18 + 12 * i)
  }
  return Buffer.concat([bytes, behind])
}

/** A block whose only tag is the maker's name. */
function made(text: string | Uint8Array): Exif | undefined {
  const behind = Buffer.concat([Buffer.from(text), Buffer.alloc(5)])
  return readExif(block([{ tag: 271, type: 2, count: behind.length, value: 26 }], { behind }))
}

describe('EXIF', () => {
  it('is read as tags by their names', async () => {
    const { exif } = await photograph()
    expect(readExif(exif)).to.deep.include({
      location: { latitude: -33.8567844, longitude: 151.2152967, altitude: 12.5 },
    })
    expect(readExif(exif)?.tags).to.include({
      Make: 'Sluice',
      Model: 'Gate 1',
      FNumber: 2.8,
      ExposureTime: 1 / 125,
      ISOSpeedRatings: 200,
      DateTimeOriginal: '2024:05:06 07:08:09',
    })
  })

  it('is read in both byte orders', () => {
    const entry = { tag: 282, type: 4, count: 1, value: 300 }
    for (const order of ['II', 'MM'])
      expect(readExif(block([entry], { order }))).to.deep.equal({ tags: { XResolution: 300 } })
  })

  const texts: Record<string, [written: string | Uint8Array, read: string | undefined]> = {
    'in any script': ['Фирма 会社', 'Фирма 会社'],
    'without control characters and marks of direction': ['a\x1b[31mb\r\nc\u202egnp', 'a[31mbcgnp'],
    'up to a NUL': ['Maker\0\0\0more', 'Maker'],
    'without invalid characters': [Uint8Array.of(0x61, 0xff, 0xfe), 'a��'],
    'only when they are not empty': ['  ', undefined],
    'of at most 1000 characters': ['x'.repeat(5000), 'x'.repeat(1000)],
  }
  for (const [what, [written, read]] of Object.entries(texts)) {
    it(`has texts ${what}`, () => {
      expect(made(written)?.tags.Make).to.equal(read)
    })
  }

  it('skips tags that cannot be read', () => {
    const entries = [
      { tag: 270, type: 2, count: 100, value: 4_000_000_000 },
      { tag: 272, type: 99, count: 1, value: 0 },
      { tag: 283, type: 5, count: 1, value: 10_000 },
      { tag: 315, type: 2, count: 0xffffffff, value: 0 },
      // 0 / 0: the pointer leads behind the directory.
      { tag: 282, type: 5, count: 1, value: 90 },
      { tag: 274, type: 3, count: 1, value: 6 },
    ]
    expect(readExif(block(entries, { behind: Buffer.alloc(100) }))).to.deep.equal({
      tags: { Orientation: 6 },
    })
  })

  it('has no location when it is invalid', () => {
    const gps = (degrees: number) => {
      // The second directory lies behind the first, which is 26 bytes long.
      const second = block(
        [
          { tag: 2, type: 4, count: 1, value: degrees },
          { tag: 4, type: 4, count: 1, value: 20 },
        ],
        {},
      ).subarray(8)
      return readExif(block([{ tag: 34853, type: 4, count: 1, value: 26 }], { behind: second }))
    }
    expect(gps(90)?.location).to.deep.equal({ latitude: 90, longitude: 20 })
    expect(gps(91)?.location).to.equal(undefined)
  })

  it('is undefined for bytes that are not an EXIF block', () => {
    for (const bytes of ['', 'Exif', 'Exif\0\0', 'II*\0', 'Exif\0\0II+\0', 'PNG', 'II*\0\xff\xff\xff\xff'])
      expect(readExif(Buffer.from(bytes, 'latin1'))?.tags ?? {}).to.deep.equal({})
  })

  it('is cheap to read, whatever the block claims', () => {
    // 65 KB that stand for 5000 lists of 60,000 numbers each, and a directory that leads to itself.
    const lists = Array.from({ length: 5000 }, (_, i) => ({
      tag: 35_000 + i,
      type: 1,
      count: 60_000,
      value: 8,
    }))
    const entries = [{ tag: 34_665, type: 4, count: 1, value: 8 }, ...lists]
    const bytes = block(entries, { behind: Buffer.alloc(5000) })
    // Without a bound on all of them, each would copy 300 MB.
    const numbers = Object.values(readExif(bytes)?.tags ?? {}).flat()
    expect(numbers.length).to.be.below(bytes.length)
  })

  it('is read without an error when any of its bytes is changed', async () => {
    const { exif } = await photograph()
    for (let at = 0; at < exif.length; at += 1) {
      for (const byte of [0, 1, 0x7f, 0xff]) {
        const changed = Buffer.from(exif)
        changed[at] = byte
        const { tags = {} } = readExif(changed) ?? {}
        expect(JSON.stringify(tags).length).to.be.below(20_000)
      }
    }
  })
})
