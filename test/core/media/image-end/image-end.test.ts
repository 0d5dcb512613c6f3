import { expect } from 'chai'
import { formatOfExtension, knownFormat } from '../../../../src/core/media/formats.ts'
import { watchEnd } from '../../../../src/core/media/image-end/image-end.ts'
import { animation, picture } from '../../../support/media/images.ts'

function isTruncated(bytes: Buffer, format: string, pieceBytes = bytes.length): boolean | undefined {
  const watch = watchEnd(knownFormat(format))
  for (let at = 0; at < bytes.length; at += pieceBytes) watch?.add(bytes.subarray(at, at + pieceBytes))
  return watch?.isTruncated()
}

describe('the end of an image', () => {
  for (const [format, make, headerBytes] of [
    ['jpeg', () => picture({ format: 'jpeg' }), 316],
    ['png', () => picture(), 62],
    ['gif', () => animation(), 39],
  ] as const) {
    it(`is found in a ${format} that comes in pieces of any length`, async () => {
      const bytes = await make()
      for (const pieceBytes of [1, 3, 100, bytes.length])
        expect(isTruncated(bytes, format, pieceBytes), `${pieceBytes}`).to.equal(false)
    })

    it(`is missing in a ${format} that is cut anywhere after its first pixels`, async () => {
      const bytes = await make()
      for (let length = 13; length < bytes.length; length += 11)
        expect(isTruncated(bytes.subarray(0, length), format, 64), `${length}`).to.equal(length > headerBytes)
      expect(isTruncated(bytes.subarray(0, -1), format)).to.equal(true)
    })

    it(`is found in a ${format} whatever follows it`, async () => {
      const bytes = Buffer.concat([await make(), Buffer.from([0xff, 0xd8, 1, 2, 3])])
      expect(isTruncated(bytes, format)).to.equal(false)
    })
  }

  it('is not that of the preview in the EXIF data of a JPEG', async () => {
    const preview = await picture({ format: 'jpeg' })
    const bytes = await picture({ format: 'jpeg' })
    const length = Buffer.alloc(2)
    length.writeUInt16BE(preview.length + 2)
    const app1 = Buffer.concat([Buffer.from([0xff, 0xe1]), length, preview])
    const whole = Buffer.concat([bytes.subarray(0, 2), app1, bytes.subarray(2)])
    expect(isTruncated(whole, 'jpeg')).to.equal(false)
    expect(isTruncated(whole.subarray(0, -20), 'jpeg')).to.equal(true)
  })

  it('is not searched for after a broken structure or in another format', async () => {
    const png = await picture()
    expect(isTruncated(Buffer.concat([png.subarray(0, 33), Buffer.alloc(100)]), 'png')).to.equal(false)
    for (const extension of ['webp', 'tif', 'pdf', 'bin'])
      expect(watchEnd(formatOfExtension(extension) as never)).to.equal(undefined)
  })

  it('is not searched for any more in a file of too many tiny blocks', () => {
    const head = Buffer.from('GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02', 'latin1')
    const blocks = Buffer.alloc(3_000_000, Buffer.from([1, 0x20]))
    expect(isTruncated(Buffer.concat([head, blocks]), 'gif')).to.equal(false)
    expect(isTruncated(Buffer.concat([head, blocks.subarray(0, 1000)]), 'gif')).to.equal(true)
  })
})
