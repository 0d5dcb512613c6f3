import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { sniff } from '../../src/core/media/sniff/sniff.ts'
import { PROJECT } from '../support/service.ts'

const bytes = (hex: string, length = 200) => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(length)])
const text = (start: string) => Buffer.concat([Buffer.from(start, 'latin1'), Buffer.from([0, 0xff, 1, 2])])
const formatOf = async (head: Buffer) => (await sniff(head, 'file')).format

describe('formats by their signatures', () => {
  for (const [format, group] of [
    ...[
      'pcx',
      'dcx',
      'dds',
      'pbm',
      'pgm',
      'ppm',
      'pam',
      'pfm',
      'hdr',
      'fits',
      'dpx',
      'jng',
      'ras',
      'sgi',
      'xwd',
    ].map((name) => [name, 'image'] as const),
    ...['miff', 'vicar'].map((name) => [name, 'image'] as const),
    ['mng', 'video'],
  ] as const)
    it(`are recognised in a ${format} of ImageMagick, whatever its name`, async () => {
      const file = await readFile(join(PROJECT, 'test/corpus/files', `im.${format}`))
      expect(await formatOf(file)).to.include({ name: format, group })
    })

  for (const format of ['au', 'caf', 'w64', 'tta', 'dts', 'adx', 'voc'])
    it(`are recognised in a ${format} of ffmpeg`, async () => {
      const file = await readFile(join(PROJECT, 'test/corpus/files', `sound.${format}`))
      expect(await formatOf(file)).to.include({ name: format, group: 'audio' })
    })

  for (const [format, head] of [
    ['exr', bytes('762f310102000000')],
    ['qoi', bytes('716f69660000000a0000000a0400')],
    ['ktx2', bytes('ab4b5458203230bb0d0a1a0a')],
    ['djvu', text('AT&TFORM\0\0\0\x09DJVU')],
    ['emf', Buffer.concat([bytes('010000006c000000', 32), Buffer.from(' EMF\0\0\x01\0')])],
    ['wmf', bytes('d7cdc69a0000')],
    ['h5', bytes('894844460d0a1a0a')],
    ['npy', bytes('934e554d50590100')],
    ['mdb', text('\0\x01\0\0Standard Jet DB\0')],
    ['mpq', text('MPQ\x1a\x20\0\0\0')],
    ['pgm', text('P5\n# made by hand\n48 36\n255\n')],
  ] as const)
    it(`are recognised in a ${format} by its first bytes`, async () => {
      expect((await formatOf(head)).name).to.equal(format)
    })

  for (const [what, head] of [
    ['a PCX of another encoding', bytes('0a050508')],
    ['a PCX of nine planes', bytes(`0a050108${'00'.repeat(61)}09`)],
    ['a text after P5', text('P5 is the fifth part')],
    ['a DDS without its length', text('DDS 1234')],
    ['SGI with too many dimensions', bytes('01da00010009')],
    ['an ADX without its mark', bytes('80000020')],
    ['a header of LZMA with a size that no encoder writes', bytes('5d00008000ffff0000')],
    ['the word caff', text('caffeine')],
    ['the word qoif', text('qoif, not a picture')],
  ] as const)
    it(`are not recognised in ${what}`, async () => {
      expect((await formatOf(head)).name).to.equal('bin')
    })

  it('are not recognised as images in a text', async () => {
    for (const [start, name] of [
      ['P5 48 36 255 is how it begins', 'txt'],
      ['id=ImageMagick is what I typed', 'txt'],
      ['#?RADIANCE\nis a word', 'txt'],
    ] as const)
      expect((await sniff(Buffer.from(start), 'a.txt')).format.name).to.equal(name)
  })
})
