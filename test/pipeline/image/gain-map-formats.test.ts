import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { readGainMap, withGainMap } from '../../../src/engines/image/gain-map/gain-map.ts'
import { type Gains, gainsToIso } from '../../../src/engines/image/gain-map/gains.ts'
import { heifFile } from '../../../src/engines/image/gain-map/heif-file.ts'
import { readItems } from '../../../src/engines/image/gain-map/heif-items.ts'
import { headerIn } from '../../../src/engines/image/header.ts'
import { PROJECT } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { LIMITS, type Outcome, transformed } from './transform.ts'

const fileOf = (name: string) => readFile(join(PROJECT, 'test/corpus/files', name))

// As `scripts/corpus/gain-maps.py` states them, and as libavif 1.4 reads them.
const ADOBE: Gains = {
  usesBaseColours: true,
  baseHeadroom: 0,
  alternateHeadroom: 2.25,
  channels: [2.5, 2.25, 2].map((max) => ({
    min: -0.5,
    max,
    gamma: 1.25,
    baseOffset: 0.015625,
    alternateOffset: 0.03125,
  })),
}
// By Apple's formula: 3 - 70 x 0.005.
const APPLE: Gains = {
  usesBaseColours: true,
  baseHeadroom: 0,
  alternateHeadroom: 2.65,
  channels: [{ min: 0, max: 2.65, gamma: 1, baseOffset: 0, alternateOffset: 0 }],
}
const PHOTOS = [
  ['avifenc-gainmap.avif', 'avif', ADOBE],
  ['jpeg-adobe-gainmap.jpg', 'jpeg', ADOBE],
  ['jpeg-iphone-gainmap.jpg', 'jpeg', APPLE],
  ['heic-gainmap.heic', 'heic', APPLE],
] as const

describe('the gain map of a photo', () => {
  const mapOf = async ({ bytes }: Pick<Outcome, 'bytes'>) => readGainMap(bytes, await headerIn(bytes))

  /** Whether the middle of each quarter is bright, or red. */
  async function quartersOf(bytes: Buffer): Promise<boolean[]> {
    const { data, info } = await sharp(bytes)
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true })
    return [0.25, 0.75].flatMap((y) =>
      [0.25, 0.75].map((x) => {
        const at = info.channels * (Math.floor(y * info.height) * info.width + Math.floor(x * info.width))
        return (data[at] ?? 0) > 200
      }),
    )
  }

  for (const [i, [name, format, gains]] of PHOTOS.entries())
    for (const output of sized(i % 2 ? ['avif'] : ['jpeg'], ['avif', 'jpeg']))
      it(`of ${name} is retained, upright, with its gains, as ${output}`, async () => {
        const outcome = await transformed(await fileOf(name), `w=128&f=${output}`, { format })
        const map = await mapOf(outcome)
        if (!map) throw new Error('expected a gain map')
        expect(map.gains).to.deep.equal(gains)
        const { width = 0, height = 0 } = outcome.metadata
        const size = await sharp(map.bytes).metadata()
        expect([width, size.width, size.height]).to.deep.equal([128, 32, height / 4])
        // The corner is at the left before the quarter turn.
        expect(await quartersOf(map.bytes)).to.deep.equal([false, true, false, false])
        expect(await quartersOf(outcome.bytes)).to.deep.equal([false, true, false, false])
        const sdr = await transformed(await fileOf(name), `w=128&f=${output}&hdr=sdr`, { format })
        expect(await mapOf(sdr)).to.equal(undefined)
      })

  it('is in an AVIF in the form that libavif writes', async () => {
    const { bytes } = await transformed(await fileOf('jpeg-adobe-gainmap.jpg'), 'w=128&f=avif', {
      format: 'jpeg',
    })
    const written = bytes.toString('hex')
    const fractions = [0, 2.25, ...ADOBE.channels.flatMap((channel) => Object.values(channel))].map((value) =>
      [value * 1e6, 1e6].map((number) => (number >>> 0).toString(16).padStart(8, '0')).join(''),
    )
    // Three channels, in the colours of the image.
    const payload = `0000000000c0${fractions.join('')}`
    const at = written.indexOf(payload) / 2
    const hexOf = (number: number) => number.toString(16).padStart(8, '0')
    const hex = (text: string) => Buffer.from(text, 'latin1').toString('hex')
    // Brands, items (hidden or not), inputs of the sum, its place in the file, colours, and the group of alternatives.
    expect(written.slice(0, 2 * bytes.readUInt32BE(0))).to.include(hex('tmap'))
    expect(written).to.include(`${hex('infe')}0200000000030000${hex('tmap')}00`)
    expect(written).to.include(`${hex('infe')}0200000100020000${hex('av01')}00`)
    // Readers refuse identifiers in another order.
    expect(written).to.match(new RegExp(`${hex('ipma')}0{8}0{7}30001.*${hex('altr')}`))
    expect(written.indexOf(`${hex('infe')}0200000000010000`)).to.be.within(
      1,
      written.indexOf(`${hex('infe')}0200000100020000`) - 1,
    )
    expect(written).to.include(`${hex('dimg')}0003000200010002`)
    expect(written).to.include(`000300000001${hexOf(at)}${hexOf(payload.length / 2)}`)
    expect(written).to.include(`${hex('colrnclx')}00010010000680`)
    expect(written).to.include(`${hex('colrnclx')}00020002000680`)
    expect(written).to.include(`${hex('altr')}0000000000000004000000020000000300000001`)
  })

  it('is described in a JPEG by ISO 21496-1 and in XMP', async () => {
    const { metadata } = await transformed(await fileOf('avifenc-gainmap.avif'), 'w=128&f=jpeg', {
      format: 'avif',
    })
    const text = metadata.gainMap?.image.toString('latin1') ?? ''
    expect(text).to.include('urn:iso:std:iso:ts:21496:-1\0\0\0\0\0\xc0')
    expect(text).to.include('hdrgm:HDRCapacityMax="2.25"')
    expect(text).to.include(
      '<hdrgm:GainMapMax><rdf:Seq><rdf:li>2.5</rdf:li><rdf:li>2.25</rdf:li><rdf:li>2</rdf:li></rdf:Seq>',
    )
  })

  it('of an iPhone has the brightness that Apple states', async () => {
    const map = await readGainMap(await fileOf('jpeg-iphone-gainmap.jpg'), { format: 'jpeg' })
    const brightness = (value: number) => 2 ** ((2.65 * (map?.curve?.[value] ?? 0)) / 255)
    for (const value of [0, 10, 128, 200, 255]) {
      const encoded = value / 255
      const linear = encoded < 0.081 ? encoded / 4.5 : ((encoded + 0.099) / 1.099) ** (1 / 0.45)
      // Half of a step.
      expect(brightness(value) / (1 + (2 ** 2.65 - 1) * linear)).to.be.closeTo(1, 0.004)
    }
  })

  it('of an iPhone is converted in the output', async () => {
    const grey = sharp({ create: { width: 16, height: 16, channels: 3, background: '#808080' } })
    const map = await readGainMap(await fileOf('jpeg-iphone-gainmap.jpg'), { format: 'jpeg' })
    if (!map) throw new Error('expected a gain map')
    const photo = await sharp(await fileOf('jpeg-iphone-gainmap.jpg'))
      .jpeg()
      .toBuffer()
    for (const format of ['jpeg', 'avif']) {
      const output = { size: { width: 64, height: 64 }, format, isDisplayP3: false, limits: LIMITS }
      const image = await sharp(photo)
        .toFormat(format as 'jpeg')
        .toBuffer()
      const bytes = await withGainMap(image, { ...map, bytes: await grey.png().toBuffer() }, output)
      const { data } = await sharp((await mapOf({ bytes }))?.bytes)
        .raw()
        .toBuffer({ resolveWithObject: true })
      expect(data[0], format).to.be.closeTo(map.curve?.[128] ?? 0, 2)
    }
    expect(map.curve?.[128]).to.be.below(124)
  })

  it('of a HEIC with a tone-mapped image, as of later iPhones, is retained', async () => {
    const file = readItems(await fileOf('heic-gainmap.heic'))
    const [image, map] = file?.items.filter(({ type }) => type === 'hvc1') ?? []
    if (!file || !image || !map) throw new Error('expected two images')
    const properties = map.properties.filter(({ type }) => type !== 'auxC')
    const data = () => Buffer.concat([Buffer.of(0), gainsToIso(ADOBE)])
    const size = image.properties.filter(({ type }) => type === 'ispe')
    const toneMapped = { ...image, id: 9, type: 'tmap', properties: size, data }
    const photo = heifFile({
      brands: Buffer.concat([file.brands, Buffer.from('tmap')]),
      primary: image.id,
      items: [image, { ...map, properties }, toneMapped],
      references: [{ type: 'dimg', from: toneMapped.id, to: [image.id, map.id] }],
    })
    if (!photo) throw new Error('expected a file')
    const outcome = await transformed(photo, 'w=128&f=jpeg', { format: 'heic' })
    const found = await mapOf(outcome)
    expect(found?.gains).to.deep.equal(ADOBE)
    expect(await quartersOf(found?.bytes ?? Buffer.of())).to.deep.equal([false, true, false, false])
    expect(await quartersOf(outcome.bytes)).to.deep.equal([false, true, false, false])
  })

  it('is ignored when it is broken, but the photo is shown', async () => {
    const avif = await fileOf('avifenc-gainmap.avif')
    const changed = (at: number, value: number) => {
      const bytes = Buffer.from(avif)
      bytes[at] = value
      return bytes
    }
    const items = readItems(avif)?.items ?? []
    const placeOf = (type: string, isHidden: boolean) => {
      const item = items.find((each) => each.type === type && each.isHidden === isHidden)
      return avif.indexOf(item?.data() ?? 'nothing')
    }
    const payload = placeOf('tmap', false)
    for (const [what, bytes] of Object.entries({
      'a later version': changed(payload, 1),
      'a later least version': changed(payload + 2, 1),
      'no denominator': changed(payload + 13, 0),
      'no brand': changed(avif.indexOf('tmap'), 0),
      'no image': changed(placeOf('av01', true), 0xff),
    })) {
      const outcome = await transformed(bytes, 'w=64', { format: 'avif' })
      expect(outcome.metadata.width, what).to.equal(64)
      expect(await mapOf(outcome), what).to.equal(undefined)
    }
  })
})
