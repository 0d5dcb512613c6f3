import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import sharp from 'sharp'
import { sniffDepth } from '../../src/core/media/sniff/depth.ts'
import { SNIFF_BYTES, sniff } from '../../src/core/media/sniff/sniff.ts'
import { PROJECT } from '../support/service.ts'

const FLAC = Buffer.concat([Buffer.from('fLaC'), Buffer.from([0, 0, 0, 34]), Buffer.alloc(5000)])
const AAC = Buffer.concat([Buffer.from([0xff, 0xf1, 0x50, 0x80, 0x02, 0x1f, 0xfc]), Buffer.alloc(5000)])
const MP3 = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(5000)])

/** The format of a file of which as many bytes are read as its first ones ask for. */
async function formatOf(file: Buffer, name = 'a.bin') {
  const head = file.subarray(0, SNIFF_BYTES)
  const depth = sniffDepth(head)
  return (await sniff(file.subarray(0, Math.max(SNIFF_BYTES, depth)), name)).format.name
}

function behindTag(audio: Buffer, size: number): Buffer {
  const length = [size >> 21, (size >> 14) & 0x7f, (size >> 7) & 0x7f, size & 0x7f]
  return Buffer.concat([Buffer.from('ID3'), Buffer.from([4, 0, 0, ...length]), Buffer.alloc(size, 7), audio])
}

/** A compound file of one stream, whose directory is in its last sector. */
function compound(stream: string): Buffer {
  const file = Buffer.alloc(512 * 40)
  Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]).copy(file)
  file.writeUInt16LE(9, 30)
  file.writeUInt32LE(38, 48)
  const entry = file.subarray(512 * 39)
  for (const [i, name] of ['Root Entry', stream].entries()) {
    entry.write(name, i * 128, 'utf16le')
    entry.writeUInt16LE(2 * name.length + 2, i * 128 + 64)
  }
  return file
}

describe('the type of a file whose first 4100 bytes are not enough', () => {
  it('is tiff for one whose directory is at its end', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const
    const raw = sharp({ create: { width: 200, height: 200, channels: 3, background: 'red', noise } })
    const file = await raw.tiff({ compression: 'none' }).toBuffer()
    expect(file.readUInt32LE(4)).to.be.above(SNIFF_BYTES)
    expect(await formatOf(file)).to.equal('tiff')
  })

  it('is tiff when the directory is too far behind, in both byte orders, and for a BigTIFF', async () => {
    for (const start of ['49492a00', '4d4d002a', '49492b0008000000', '4d4d002b00080000']) {
      const file = Buffer.concat([Buffer.from(start, 'hex'), Buffer.alloc(8000, 0x30)])
      expect(await formatOf(file), start).to.equal('tiff')
    }
  })

  it('is dng for a TIFF whose directory has the DNG tag, wherever the directory is', async () => {
    const file = Buffer.alloc(20_000, 0x30)
    Buffer.from('49492a0020400000', 'hex').copy(file)
    file.writeUInt16LE(1, 0x4020)
    file.writeUInt16LE(50_706, 0x4022)
    // Four bytes: the version.
    file.writeUInt16LE(1, 0x4024)
    file.writeUInt32LE(4, 0x4026)
    expect(await formatOf(file)).to.equal('dng')
  })

  for (const size of [100, 9000, 300_000]) {
    it(`is that of the audio after a tag of ${size} bytes`, async () => {
      expect(await formatOf(behindTag(MP3, size))).to.equal('mp3')
      expect(await formatOf(behindTag(FLAC, size))).to.equal('flac')
      expect(await formatOf(behindTag(AAC, size))).to.equal('aac')
    })
  }

  it('comes from the name, otherwise mp3, for audio after a tag of more than 1 MiB', async () => {
    const file = behindTag(FLAC, 1_100_000)
    expect(sniffDepth(file)).to.equal(0)
    expect(await formatOf(file, 'a.flac')).to.equal('flac')
    expect(await formatOf(file, 'a.html')).to.equal('mp3')
  })

  for (const [stream, format] of [
    ['WordDocument', 'doc'],
    ['Workbook', 'xls'],
    ['PowerPoint Document', 'ppt'],
    ['__properties_version1.0', 'msg'],
  ] as const) {
    it(`is ${format} for a compound file that contains ${stream}`, async () => {
      expect(await formatOf(compound(stream), 'a.png')).to.equal(format)
    })
  }

  it('comes from the name for other compound files, within the family', async () => {
    expect(await formatOf(compound('Other'), 'a.msi')).to.equal('msi')
    expect(await formatOf(compound('Other'), 'a.html')).to.equal('cfb')
  })

  it('is that of an office document whose content types are its last entry', async () => {
    const file = await readFile(join(PROJECT, 'test/corpus/files/types-last.docx'))
    expect(file.indexOf('[Content_Types].xml')).to.be.above(SNIFF_BYTES)
    expect((await sniff(file.subarray(0, SNIFF_BYTES), 'a')).format.name).to.equal('zip')
    expect(await formatOf(file)).to.equal('docx')
  })

  it('is svgz for a compressed SVG, and gzip for any other content', async () => {
    expect(await formatOf(gzipSync('<svg xmlns="http://www.w3.org/2000/svg"/>'))).to.equal('svgz')
    expect(await formatOf(gzipSync('<html></html>'), 'a.svgz')).to.equal('gzip')
    expect(await formatOf(gzipSync(Buffer.alloc(10_000_000)))).to.equal('gzip')
  })

  it('comes from the name for unknown bytes, but not for formats with a signature or files that browsers run', async () => {
    const unknown = Buffer.from([1, 2, 3, 0xff, 0, 0x80])
    expect(await formatOf(unknown, 'scan.TGA')).to.equal('tga')
    for (const name of ['a.html', 'a.svg', 'a.js', 'a.xml', 'a.wasm', 'a.swf', 'a.pdf', 'a.jpg', 'a'])
      expect(await formatOf(unknown, name), name).to.equal('bin')
  })
})
