import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { readGainMap, withGainMap } from '../../../src/engines/image/gain-map/gain-map.ts'
import { headerIn } from '../../../src/engines/image/header.ts'
import { photoWithGainMap } from '../../support/media/gain-map.ts'
import { picture } from '../../support/media/images.ts'
import { PROJECT } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { LIMITS, type Outcome, transformed } from './transform.ts'

describe('the gain map of a JPEG', () => {
  const outcomeOf = (photo: Buffer, query: string) => transformed(photo, query, { format: 'jpeg' })

  /** Whether the middle of each quarter of a picture is red, or bright. */
  async function quartersOf(bytes: Buffer | undefined, what: 'red' | 'bright'): Promise<boolean[]> {
    const { data, info } = await sharp(bytes)
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true })
    const places = [0.25, 0.75].flatMap((y) => [0.25, 0.75].map((x) => [x, y] as const))
    return places.map(([x, y]) => {
      const at = info.channels * (Math.floor(y * info.height) * info.width + Math.floor(x * info.width))
      const [r = 0, g = 0] = data.subarray(at, at + 2)
      return r > 200 && (what === 'bright' || g < 60)
    })
  }

  const sizeOfMap = async ({ metadata }: Outcome) => {
    const { width, height } = await sharp(metadata.gainMap?.image).metadata()
    return [width, height]
  }

  it('is resized with the image', async () => {
    const outcome = await outcomeOf(await photoWithGainMap(), 'w=200')
    expect(outcome.metadata).to.include({ width: 200, height: 100, format: 'jpeg' })
    expect(await sizeOfMap(outcome)).to.deep.equal([50, 25])
    const quarters = await quartersOf(outcome.metadata.gainMap?.image, 'bright')
    expect(quarters).to.deep.equal([true, false, false, false])
  })

  for (let orientation = 1; orientation <= 8; orientation++)
    it(`is turned like the image, with EXIF orientation ${orientation}`, async () => {
      const outcome = await outcomeOf(await photoWithGainMap({ orientation }), 'w=100')
      const image = await quartersOf(outcome.bytes, 'red')
      const map = await quartersOf(outcome.metadata.gainMap?.image, 'bright')
      expect(map).to.deep.equal(image)
      expect(map.filter(Boolean)).to.have.length(1)
      expect(outcome.metadata.orientation ?? 1).to.equal(1)
    })

  it('is listed in an index and in XMP, at the right place, with its gains', async () => {
    const { bytes, metadata } = await outcomeOf(await photoWithGainMap(), 'w=200')
    const origin = bytes.indexOf('MPF\0') + 4
    const word = (at: number) => bytes.readUInt32BE(origin + at)
    // Two entries of 16 bytes, after a directory of three tags.
    const [first, second] = [50, 66]
    const start = origin + word(second + 8)
    expect(word(first + 4)).to.equal(start)
    expect(start + word(second + 4)).to.equal(bytes.length)
    const map = bytes.subarray(start)
    expect(map.subarray(0, 2).toString('hex')).to.equal('ffd8')
    expect(map.equals(metadata.gainMap?.image ?? Buffer.of())).to.equal(true)
    const primary = bytes.toString('latin1', 0, start)
    expect(primary).to.include(`Item:Semantic="GainMap" Item:Length="${map.length}"`)
    const text = map.toString('latin1')
    const numberOf = (name: string) => Number(new RegExp(`hdrgm:${name}="([^"]+)`).exec(text)?.[1])
    for (const [name, value] of Object.entries({
      GainMapMin: 0,
      GainMapMax: 2.5,
      Gamma: 1,
      OffsetSDR: 0.015625,
      OffsetHDR: 0.015625,
      HDRCapacityMin: 0,
      HDRCapacityMax: 2.5,
    }))
      expect(numberOf(name), name).to.be.closeTo(value, 0.001)
  })

  it('is kept in a transformation of the outcome', async () => {
    const once = await outcomeOf(await photoWithGainMap(), 'w=200')
    const twice = await outcomeOf(once.bytes, 'w=100')
    expect(await sizeOfMap(twice)).to.deep.equal([25, 13])
  })

  it('comes without the metadata of the photo', async () => {
    const photo = await photoWithGainMap({
      prepare: (image) =>
        image.withExif({
          IFD0: { ImageDescription: 'a secret place' },
          IFD3: { GPSLatitude: '1/1 2/1 3/1' },
        }),
    })
    expect(photo.includes('a secret place')).to.equal(true)
    const { bytes } = await outcomeOf(photo, 'w=200')
    expect(bytes.includes('a secret place')).to.equal(false)
    expect(bytes.toString('latin1')).to.not.match(/GPS/)
    const { exif = Buffer.of() } = await sharp(bytes).metadata()
    // The tag of the GPS directory.
    expect([exif.includes(Buffer.of(0x25, 0x88)), exif.includes(Buffer.of(0x88, 0x25))]).to.deep.equal([
      false,
      false,
    ])
  })

  it('is omitted with hdr=sdr, and when a parameter changes more than size and quality', async () => {
    const photo = await photoWithGainMap()
    for (const query of [
      'w=200&hdr=sdr',
      'w=200&blur=3',
      'w=100&h=100',
      'w=100&h=100&fit=contain',
      'w=100&h=100&func=auto',
      'crop=0,0,100,100',
      'rotate=90',
      'flip',
      'w=200&maxbytes=9000',
      'w=800&enlarge&zoom=2',
      'w=200&f=webp',
    ])
      expect((await outcomeOf(photo, query)).metadata, query).to.not.have.property('gainMap')
  })

  it('is omitted when it cannot be decoded', async () => {
    const photo = await photoWithGainMap()
    const map = await readGainMap(photo, { format: 'jpeg' })
    if (!map) throw new Error('expected a gain map')
    const [jpeg, output] = [
      await picture({ format: 'jpeg' }),
      { size: { width: 100, height: 50 }, format: 'jpeg', isDisplayP3: false, limits: LIMITS },
    ]
    expect((await withGainMap(jpeg, map, output)).length).to.be.above(jpeg.length)
    const broken = { ...map, bytes: map.bytes.subarray(0, map.bytes.length - 100) }
    expect(await withGainMap(jpeg, broken, output)).to.equal(jpeg)
    // Without the end of the file it is not even found.
    expect((await outcomeOf(photo.subarray(0, -100), 'w=100')).metadata).to.not.have.property('gainMap')
  })

  it('is found by the start of the file, which large files are known by', async () => {
    const photo = await photoWithGainMap()
    const start = photo.subarray(0, photo.lastIndexOf(Buffer.of(0xff, 0xd8)))
    expect((await headerIn(start)).hasGainMap).to.equal(true)
    expect((await headerIn(photo)).hasGainMap).to.equal(true)
    expect((await headerIn(await picture({ format: 'jpeg' }))).hasGainMap).to.equal(false)
  })

  it('is found in a file on disk whose description is only that of ISO 21496-1', async () => {
    const { bytes } = await outcomeOf(await photoWithGainMap(), 'w=200')
    const photo = withoutNames(bytes, [
      'http://ns.adobe.com/xap/1.0/',
      'http://ns.adobe.com/hdr-gain-map/1.0/',
    ])
    const path = join(await temporaryFolder(), 'a.jpg')
    await writeFile(path, photo)
    const header = await headerIn(path)
    expect(header.hasGainMap).to.equal(true)
    expect((await readGainMap(path, header))?.gains.alternateHeadroom).to.equal(2.5)
  })

  it('is not searched behind a thousand segments, which may be millions', async () => {
    const photo = await photoWithGainMap()
    const headroomBehind = async (count: number) => {
      const found = await readGainMap(withSegments(photo, count), { format: 'jpeg' })
      return found?.gains.alternateHeadroom
    }
    expect(await headroomBehind(900)).to.equal(2.5)
    expect(await headroomBehind(1100)).to.equal(undefined)
  })

  it('prints nothing, whatever its description is', async () => {
    const photo = await photoWithGainMap()
    const at = photo.indexOf('hdrgm:Gamma="1" ')
    photo.write('\n{"level":60}<<', at)
    const path = join(await temporaryFolder(), 'a.jpg')
    await writeFile(path, photo)
    const engine = new URL('../../../src/engines/image/sharp.ts', import.meta.url).href
    const script = `import sharp from 'sharp'
await import(${JSON.stringify(engine)})
await sharp(${JSON.stringify(path)}).resize(10).toBuffer()`
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import=tsx', '--input-type=module', '--eval', script],
      { encoding: 'utf8', timeout: 30_000, cwd: PROJECT },
    )
    expect([status, stdout, stderr]).to.deep.equal([0, '', ''])
  })
})

/** A photo whose gain map has more segments, of four bytes each. */
function withSegments(photo: Buffer, count: number): Buffer {
  const map = photo.lastIndexOf(Buffer.of(0xff, 0xd8, 0xff))
  const segments = Buffer.alloc(4 * count, Buffer.of(0xff, 0xe3, 0, 2))
  const bytes = Buffer.concat([photo.subarray(0, map + 2), segments, photo.subarray(map + 2)])
  // The length of the second image, in the index.
  bytes.writeUInt32BE(bytes.length - map, bytes.indexOf('MPF\0') + 4 + 50 + 20)
  return bytes
}

/** A photo in which readers do not find these names. */
function withoutNames(photo: Buffer, names: readonly string[]): Buffer {
  const bytes = Buffer.from(photo)
  for (const name of names)
    for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name))
      bytes.fill('x', at, at + name.length)
  return bytes
}
