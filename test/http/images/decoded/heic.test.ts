import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { heif } from '../../../../src/engines/image/decoders/heif.ts'
import { onOneBackend } from '../../../support/backends.ts'
import { colourAt } from '../../../support/media/images.ts'
import { expectSurvival } from '../../../support/media/surviving.ts'
import { NO_LIMITS } from '../../../support/no-limits.ts'
import { uploadOne } from '../../../support/requests/client.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { PROJECT, type Service } from '../../../support/service.ts'
import { sized } from '../../../support/sized.ts'

const fileOf = (name: string) => readFile(join(PROJECT, 'test/corpus/files', name))

// `heic-turned.heic` is red at the left: `heif-convert` shows the same. The others are red at the top.
const RED = { r: 240, g: 0, b: 15 }
const BLUE = { r: 15, g: 0, b: 240 }

onOneBackend('a HEIC', (start) => {
  let service: Service
  before(async () => {
    service = await start({ env: NO_LIMITS })
  })

  async function requested(name: string, query: string) {
    const { src } = await uploadOne(service, { name, bytes: await fileOf(name) })
    const answer = await exchange(service, `${src}?${query}`)
    expect(answer.status, answer.body.toString('utf8', 0, 200)).to.equal(200)
    return { ...answer, src }
  }

  it('is rendered as JPEG, from tiles, in 8 or 10 bits', async () => {
    for (const name of ['heic-ten.heic', 'im.heic']) {
      const { headers, body } = await requested(name, 'w=24')
      expect(headers['content-type']).to.equal('image/jpeg')
      expect(await sharp(body).metadata()).to.include({ width: 24, height: 18 })
      near(await colourAt(body, 12, 1), RED)
      near(await colourAt(body, 12, 16), BLUE)
    }
  })

  it('is upright, also in its information', async () => {
    const { body, src } = await requested('heic-turned.heic', 'w=24&f=png')
    expect(await sharp(body).metadata()).to.include({ width: 24, height: 32 })
    near(await colourAt(body, 1, 16), RED)
    near(await colourAt(body, 22, 16), BLUE)
    const known = await exchange(service, src.replace('/upload/', '/info/'))
    expect(known.status).to.equal(200)
    expect(jsonOf(known)).to.include({ width: 48, height: 64, pages: 1, hasAlpha: false })
    expect(jsonOf(known)).to.include.keys('dominantColor', 'thumbHash')
  })

  it('has its colours converted from Display P3, or retained', async () => {
    const { body } = await requested('heic-p3.heic', 'w=64&f=png')
    // A red of 198 in Display P3 is 217 in sRGB. `heif-convert` shows the same 198.
    expect((await colourAt(body, 32, 10)).r).to.be.closeTo(217, 8)
    const { body: kept } = await requested('heic-p3.heic', 'w=64&f=png&icc=keep')
    expect((await sharp(kept).metadata()).icc).to.not.equal(undefined)
    const pixels = await sharp(kept).keepIccProfile().raw().toBuffer()
    expect(pixels[(10 * 64 + 32) * 3]).to.be.closeTo(198, 8)
  })

  it('has its transparency', async () => {
    const { body } = await requested('heic-alpha.heic', 'w=64&f=png')
    const { data, info } = await sharp(body).raw().toBuffer({ resolveWithObject: true })
    expect(info.channels).to.equal(4)
    const alphaAt = (x: number) => data[(24 * 64 + x) * 4 + 3]
    expect([alphaAt(2), alphaAt(61)].map((alpha) => Math.round((alpha ?? 0) / 64))).to.deep.equal([0, 4])
  })

  it('is refused above the pixel limit', async () => {
    const small = await start({ env: { IMAGE_MAX_PIXELS: '3000' } })
    const { src } = await uploadOne(small, { name: 'a.heic', bytes: await fileOf('heic-turned.heic') })
    const answer = await exchange(small, `${src}?w=24`)
    expect(answer.status).to.equal(422)
    expect(jsonOf(answer)).to.include({ code: 'not_transformable' })
  })

  it('has its size checked before its pixels are decoded', async () => {
    const check = () => {
      throw new Error('too large')
    }
    const work = heif.decode(await fileOf('heic-turned.heic'), { maxPixels: 5000, check })
    expect(await work.catch((err: Error) => err.message)).to.equal('too large')
  })

  it('never stops the service, whatever its bytes are', async function () {
    this.timeout(sized(60_000, 1_200_000))
    const files = [
      await fileOf('heic-turned.heic'),
      await fileOf('heic-alpha.heic'),
      await fileOf('heic-p3.heic'),
      await fileOf('heic-ten.heic'),
    ] as const
    // The type of the file stays.
    const how = { name: 'a.heic', query: 'w=24', count: sized(24, 2000), spared: 28 }
    await expectSurvival(service, files, how)
  })
})

function near(colour: { r: number; g: number; b: number }, expected: typeof colour): void {
  for (const channel of ['r', 'g', 'b'] as const)
    expect(colour[channel], channel).to.be.closeTo(expected[channel], 20)
}
