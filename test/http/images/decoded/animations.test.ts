import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { programEnvironment } from '../../../../config/programs.ts'
import { imageInspector } from '../../../../src/engines/image/inspector.ts'
import { sequenceIn } from '../../../../src/engines/image/sequences/tracks.ts'
import { createSharpEngine } from '../../../../src/engines/image/sharp.ts'
import { assetOf, context } from '../../../pipeline/image/transform.ts'
import { onOneBackend } from '../../../support/backends.ts'
import { mutated } from '../../../support/media/mutated.ts'
import { rejection } from '../../../support/rejection.ts'
import { uploadOne } from '../../../support/requests/client.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { PROJECT, type Service } from '../../../support/service.ts'
import { everyNth, itLong, sized } from '../../../support/sized.ts'

const fileOf = (name: string) => readFile(join(PROJECT, 'test/corpus/files', name))

// `scripts/corpus/sequences.sh` draws frames in these colours. `avifdec`, `djxl` and `ffmpeg` show the same.
const COLOURS = [
  [200, 0, 0],
  [0, 200, 0],
  [0, 0, 200],
  [200, 200, 0],
]
const FILES = {
  'avif-sequence.avif': { delay: [100, 100, 300, 300], loop: 0, hasAlpha: true },
  'heic-sequence.heic': { delay: [200, 200, 200, 200], loop: 1, hasAlpha: false },
  'jxl-sequence.jxl': { delay: [200, 200, 200, 200], loop: 0, hasAlpha: true },
}
const NAMES = Object.keys(FILES) as Array<keyof typeof FILES>

onOneBackend('an animation of AVIF, HEIC or JPEG XL', (start) => {
  let service: Service
  const paths = new Map<string, string>()
  before(async () => {
    service = await start()
    for (const name of NAMES)
      paths.set(name, (await uploadOne(service, { name, bytes: await fileOf(name) })).src)
  })

  async function requested(name: string, query: string) {
    const answer = await exchange(service, `${paths.get(name)}?${query}`)
    expect(answer.status, `${name} ${answer.body.toString('utf8', 0, 200)}`).to.equal(200)
    return answer.body
  }

  /** Asserts the colour of a frame, and its white square, which moves to the right. */
  async function expectFrame(name: string, image: Buffer, frame: number, page = 0) {
    const { data, info } = await sharp(image, { page })
      .ensureAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true })
    const at = (x: number) => [...data.subarray((18 * info.width + x) * 4)].slice(0, 3)
    const square = (frame + 1) * 10 + 4
    for (const [i, value] of (COLOURS[frame] ?? []).entries()) {
      expect(at(60)[i], `${name} ${frame}`).to.be.closeTo(value, 25)
      expect(at(square)[i], `${name} ${frame}`).to.be.closeTo(255, 25)
    }
    if (FILES[name as keyof typeof FILES].hasAlpha)
      for (const x of [16, 60])
        expect(data[(40 * info.width + x) * 4 + 3], `${name} ${frame}`).to.be.closeTo((x / 63) * 255, 8)
  }

  it('is rendered as animated WebP or GIF, with all frames and their times', async () => {
    for (const name of NAMES) {
      const body = await requested(name, 'w=64&f=webp&q=95')
      const { delay, loop } = FILES[name]
      const known = await sharp(body, { animated: true }).metadata()
      expect(known, name).to.deep.include({
        format: 'webp',
        width: 64,
        pageHeight: 48,
        pages: 4,
        delay,
        loop,
      })
      for (const frame of COLOURS.keys()) await expectFrame(name, body, frame, frame)
      // From the same frames.
      if (sized(name !== 'avif-sequence.avif', false)) continue
      const gif = await sharp(await requested(name, 'w=32&f=gif&rotate=90'), { animated: true }).metadata()
      expect(gif, name).to.deep.include({ format: 'gif', width: 24, pageHeight: 32, pages: 4, delay, loop })
    }
  })

  itLong('is one frame where a still image is requested, the first or the one of `page`', async () => {
    for (const name of NAMES) {
      for (const [query, frame] of everyNth(2, [
        ['f=png', 0],
        ['f=webp&a=0&q=95', 0],
        ['f=webp&page=3&q=95', 2],
        ['f=png&page=4', 3],
      ] as const)) {
        const body = await requested(name, query)
        expect((await sharp(body, { animated: true }).metadata()).pages ?? 1, `${name} ${query}`).to.equal(1)
        await expectFrame(name, body, frame)
      }
      const answer = await exchange(service, `${paths.get(name)}?page=5&f=png`)
      expect(answer.status, name).to.equal(400)
      expect(jsonOf(answer).detail, name).to.contain('an integer from 1 to 4')
    }
  })

  it('has the number of its frames in its information', async () => {
    for (const name of NAMES) {
      const known = await exchange(service, (paths.get(name) ?? '').replace('/upload/', '/info/'))
      const { hasAlpha } = FILES[name]
      expect(jsonOf(known), name).to.include({ width: 64, height: 48, pages: 4, hasAlpha })
    }
  })

  it('never stops the service, whatever its bytes are', async function () {
    this.timeout(sized(60_000, 1_200_000))
    const files = await Promise.all(NAMES.map(fileOf))
    const statuses = new Set<number>()
    // The type of the file stays.
    for (const bytes of mutated(files, { count: sized(3, 2000), spared: 48 })) {
      const { src } = await uploadOne(service, { name: 'a', bytes })
      statuses.add((await exchange(service, `${src}?w=24&f=webp`)).status)
    }
    expect([...statuses]).to.include.members([422])
    expect([200, 422]).to.include.members([...statuses])
    await requested('jxl-sequence.jxl', 'w=20')
  })
})

describe('image sequences', () => {
  it('have facts without those that only their decoder needs', async () => {
    const name = 'avif-sequence.avif'
    const { signal } = context()
    const facts = await imageInspector.facts(assetOf(await fileOf(name), 'avif'), { maxBytes: 1e6, signal })
    const { hasAlpha } = FILES[name]
    expect(facts).to.deep.equal({ width: 64, height: 48, hasAlpha, pages: 4, colorSpace: 'srgb' })
  })

  it('are limited by the pixels of all their frames, before they are decoded', async () => {
    const engine = createSharpEngine({ env: {} })
    // One frame has 3072.
    const limits = { ...context().limits, sourceMaxPixels: 10_000 }
    for (const name of NAMES) {
      const asset = assetOf(await fileOf(name), name.split('.')[1] ?? '')
      const refused = await rejection(engine.open(asset, {}, context({ limits })))
      expect(refused, name).to.include({ status: 422 })
      expect((refused as Error).message, name).to.contain('this image has 12288')
      const { source } = await engine.open(asset, { frames: 'first' }, context({ limits }))
      expect(source, name).to.include({ pages: 1, width: 64 })
    }
  })

  it('need ffmpeg', async () => {
    const engine = createSharpEngine({ env: { PATH: '/nowhere' } })
    const asset = assetOf(await fileOf('avif-sequence.avif'), 'avif')
    const refused = (await rejection(engine.open(asset, {}, context()))) as Error
    expect(refused).to.include({ status: 501, code: 'not_installed' })
    expect(refused.message).to.contain('animated AVIF')
  })

  it('have the colours that their file names', async () => {
    const engine = createSharpEngine({ env: programEnvironment() })
    const bytes = await fileOf('avif-sequence.avif')
    const profileOf = async (primaries: number) => {
      const named = Buffer.from(bytes)
      for (let at = named.indexOf('colrnclx'); at >= 0; at = named.indexOf('colrnclx', at + 1))
        named.writeUInt16BE(primaries, at + 8)
      const { draft } = await engine.open(
        assetOf(named, 'avif'),
        { frames: 'first', profile: 'keep' },
        context(),
      )
      return (await draft.metadata()).icc
    }
    // Display P3 and BT.709, by their numbers in H.273.
    expect(await profileOf(12)).to.be.instanceOf(Buffer)
    expect(await profileOf(1)).to.equal(undefined)
  })

  it('have durations that can be written, whatever their file states', async () => {
    const broken = await fileOf('heic-sequence.heic')
    const media = broken.indexOf('mdhd')
    const timesOf = async (scale: number) => {
      broken.writeUInt32BE(scale, media + 16)
      const { source } = await createSharpEngine({ env: {} }).open(assetOf(broken, 'heic'), {}, context())
      return 'timing' in source ? source.timing?.delay : undefined
    }
    expect(await timesOf(0)).to.deep.equal([0, 0, 0, 0])
    expect(await timesOf(1)).to.deep.equal(Array.from({ length: 4 }, () => 65_535))
  })

  it('are repeated as often as their edit list states', async () => {
    const bytes = await fileOf('heic-sequence.heic')
    const list = bytes.indexOf('elst')
    const header = bytes.indexOf('tkhd')
    const once = bytes.readUInt32BE(list + 12)
    const withTimes = (flags: number, all: number) => {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(flags, list + 7)
      changed.writeUInt32BE(all, header + 24)
      return sequenceIn(changed)?.loop
    }
    expect(withTimes(0, 3 * once)).to.equal(1)
    expect(withTimes(1, 3 * once)).to.equal(3)
    expect(withTimes(1, 0xffff_ffff)).to.equal(0)
  })
})
