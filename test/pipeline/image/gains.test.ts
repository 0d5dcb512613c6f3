import { expect } from 'chai'
import {
  type Gains,
  gainsFromIso,
  gainsFromXmp,
  gainsToIso,
  gainsToXmp,
} from '../../../src/engines/image/gain-map/gains.ts'
import { box, heifFile } from '../../../src/engines/image/gain-map/heif-file.ts'
import { readItems } from '../../../src/engines/image/gain-map/heif-items.ts'

const channel = { min: -0.25, max: 3, gamma: 0.5, baseOffset: 0.015625, alternateOffset: 0 }
const GREY: Gains = { usesBaseColours: true, baseHeadroom: 0, alternateHeadroom: 3, channels: [channel] }
const COLOURS: Gains = {
  usesBaseColours: false,
  baseHeadroom: 0.5,
  alternateHeadroom: 2.25,
  channels: [channel, { ...channel, max: 2 }, { ...channel, gamma: 1 }],
}

describe('the gains of a gain map', () => {
  const words = (...numbers: number[]) => {
    const bytes = Buffer.alloc(4 * numbers.length)
    for (const [i, number] of numbers.entries()) bytes.writeInt32BE(number, 4 * i)
    return bytes
  }
  const xmp = (attributes: string, elements = '') =>
    `<x xmlns:a="http://ns.adobe.com/hdr-gain-map/1.0/"><rdf:Description ${attributes}>${elements}</rdf:Description></x>`

  it('are written and read in both forms', () => {
    for (const gains of [GREY, COLOURS]) {
      expect(gainsFromIso(gainsToIso(gains))).to.deep.equal(gains)
      // XMP states no other colours.
      expect(gainsFromXmp(gainsToXmp(gains))).to.deep.equal({ ...gains, usesBaseColours: true })
    }
    const hdr = { ...GREY, baseHeadroom: 3, alternateHeadroom: 0 }
    expect(gainsFromXmp(gainsToXmp(hdr))).to.deep.equal(hdr)
  })

  it('are read with one denominator for all, as libultrahdr writes them', () => {
    const bytes = Buffer.concat([Buffer.of(0, 0, 0, 0, 0x48), words(64, 0, 192, -16, 192, 32, 1, 0)])
    expect(gainsFromIso(bytes)).to.deep.equal(GREY)
  })

  it('have the usual values where XMP states none', () => {
    expect(gainsFromXmp(xmp('a:GainMapMax="2" a:HDRCapacityMax=\'2\''))).to.deep.equal({
      ...{ usesBaseColours: true, baseHeadroom: 0, alternateHeadroom: 2 },
      channels: [{ min: 0, max: 2, gamma: 1, baseOffset: 1 / 64, alternateOffset: 1 / 64 }],
    })
    const element = '<a:GainMapMax>2</a:GainMapMax><a:HDRCapacityMax>1.5</a:HDRCapacityMax>'
    expect(gainsFromXmp(xmp('', element))?.alternateHeadroom).to.equal(1.5)
  })

  it('are refused when they are broken', () => {
    const iso = gainsToIso(GREY)
    for (let length = 0; length < iso.length; length += 1)
      expect(gainsFromIso(iso.subarray(0, length)), `${length} bytes`).to.equal(undefined)
    for (const broken of [
      { ...GREY, alternateHeadroom: 0 },
      { ...GREY, channels: [{ ...channel, max: -1 }] },
      { ...GREY, channels: [{ ...channel, gamma: 0 }] },
    ])
      expect(gainsFromIso(gainsToIso(broken)), JSON.stringify(broken)).to.equal(undefined)
    for (const text of [
      '',
      xmp('a:GainMapMax="2"'),
      xmp('a:GainMapMax="2" a:HDRCapacityMax="many"'),
      xmp('a:GainMapMax="2" a:HDRCapacityMax="9999"'),
      xmp('a:GainMapMax="2" a:HDRCapacityMax="2"').replaceAll('hdr-gain-map', 'other'),
    ])
      expect(gainsFromXmp(text), text).to.equal(undefined)
  })
})

describe('the items of a HEIF file', () => {
  const size = { type: 'ispe', content: Buffer.from('size'), isEssential: true }
  const item = { id: 1, type: 'av01', isHidden: false, naming: Buffer.of(0), properties: [size] }
  const file = {
    brands: Buffer.from('avif\0\0\0\0mif1'),
    primary: 1,
    items: [
      { ...item, data: () => Buffer.from('pixels') },
      { ...item, id: 7, isHidden: true, data: () => Buffer.from('values') },
    ],
    references: [{ type: 'auxl', from: 7, to: [1] }],
  }

  it('are read as they were written', () => {
    const read = readItems(heifFile(file) ?? Buffer.of())
    const plain = ({ items, ...rest }: typeof file) => ({
      ...rest,
      items: items.map(({ data, ...each }) => ({ ...each, data: String(data()) })),
    })
    expect(read && plain(read as typeof file)).to.deep.equal(plain(file))
  })

  it('have no bytes beyond the end, and no more than the file', () => {
    const whole = heifFile(file) ?? Buffer.of()
    const cut = readItems(whole.subarray(0, -8))
    expect(cut?.items.map(({ data }) => data())).to.deep.equal([undefined, undefined])
    // An item of two extents, each of which is the whole file.
    const repeated = Buffer.from(whole)
    repeated.write(`440000010001000000020000${'0'.repeat(28)}`, whole.indexOf('iloc') + 8, 'hex')
    expect(readItems(repeated)?.items.map(({ data }) => data())).to.deep.equal([undefined, undefined])
    const twice = Buffer.from(whole)
    twice.write('00000002', whole.indexOf('iloc') + 8 + 4 + 6 + 4, 'hex')
    expect(readItems(twice)?.items[0]?.data()?.length).to.equal(2)
  })

  it('are read in linear time', () => {
    // 65,535 items of 65,535 extents, which take no bytes: minutes and gigabytes, if they were read.
    const places = Buffer.from(`000000000000ffff${'00010000ffff'.repeat(65_535)}`, 'hex')
    const none = Buffer.alloc(8)
    const iprp = box('iprp', box('ipco'), box('ipma', none))
    const meta = [box('pitm', none), box('iinf', none), box('iloc', places), iprp]
    const read = readItems(box('meta', Buffer.alloc(4), ...meta))
    expect(read?.items).to.deep.equal([])
  })

  it('are one for each identifier', () => {
    const [first, second] = file.items
    if (!first || !second) throw new Error('expected two items')
    const read = readItems(
      heifFile({ ...file, items: [first, second, { ...second, type: 'hvc1' }] }) ?? Buffer.of(),
    )
    expect(read?.items.map(({ id, type }) => [id, type])).to.deep.equal([
      [1, 'av01'],
      [7, 'av01'],
    ])
  })

  it('share a property that is read once', () => {
    let count = 0
    const content = Buffer.from('size')
    content.toString = () => {
      count += 1
      return 'size'
    }
    const properties = [{ ...size, content }]
    heifFile({ ...file, items: file.items.map((each) => ({ ...each, properties })) })
    expect(count).to.equal(1)
  })

  it('are not found in other files', () => {
    for (const text of ['', 'no picture', '\0\0\0\x10meta\0\0\0\0\0\0\0\0'])
      expect(readItems(Buffer.from(text, 'latin1')), text).to.equal(undefined)
  })
})
