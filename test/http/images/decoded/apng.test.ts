import { expect } from 'chai'
import sharp from 'sharp'
import { sequenceIn } from '../../../../src/engines/image/sequences/tracks.ts'
import { onOneBackend } from '../../../support/backends.ts'
import { mutated } from '../../../support/media/mutated.ts'
import { uploadOne } from '../../../support/requests/client.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import type { Service } from '../../../support/service.ts'
import { everyNth, sized } from '../../../support/sized.ts'
import { type ApngFrame, apng } from './apng-file.ts'

const RED = [200, 0, 0, 255] as const
const FRAMES: ApngFrame[] = [
  { colour: RED, delay: [1, 10] },
  { colour: [0, 200, 0, 255], delay: [30, 0] },
  { colour: [0, 0, 200, 100], delay: [1, 20] },
]
const DELAYS = [100, 300, 50]

onOneBackend('an animated PNG', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  const uploaded = async (bytes: Buffer) => (await uploadOne(service, { name: 'a.png', bytes })).src
  async function requested(src: string, query: string) {
    const answer = await exchange(service, `${src}?${query}`)
    expect(answer.status, answer.body.toString('utf8', 0, 200)).to.equal(200)
    return answer.body
  }
  async function expectColour(image: Buffer, colour: ApngFrame['colour'], page = 0) {
    const pixels = await sharp(image, { page }).ensureAlpha().raw().toBuffer()
    // A GIF has few colours.
    for (const [i, value] of colour.entries()) expect(pixels[i]).to.be.closeTo(value, 16)
  }

  for (const loop of everyNth(3, [3, 0, 1]))
    it(`that is shown ${loop || 'any number of'} times keeps its frames and times as WebP, GIF and AVIF`, async () => {
      const src = await uploaded(apng(FRAMES, { loop }))
      for (const format of ['webp', 'gif']) {
        const image = await requested(src, `w=4&f=${format}&lossless`.replace('gif&lossless', 'gif'))
        const known = await sharp(image, { animated: true }).metadata()
        const expected = { format, width: 4, pageHeight: 3, pages: 3, delay: DELAYS, loop }
        expect(known, format).to.deep.include(expected)
        await expectColour(image, [0, 200, 0, 255], 1)
      }
      const sequence = sequenceIn(await requested(src, 'w=4&f=avif'))
      expect(sequence).to.include({ width: 4, height: 3, pages: 3, loop })
      expect(sequence?.delays()).to.deep.equal(DELAYS)
    })

  it('stays an animation with f=auto', async () => {
    const headers = { Accept: 'image/avif,image/webp' }
    const { body } = await exchange(service, `${await uploaded(apng(FRAMES))}?w=4&f=auto`, { headers })
    expect(await sharp(body).metadata()).to.include({ format: 'webp', pages: 3 })
  })

  it('is its first frame where a still image is requested, or the one of page', async () => {
    const src = await uploaded(apng(FRAMES))
    for (const [query, colour] of [
      ['w=4', RED],
      ['w=4&f=webp&lossless&a=0', RED],
      ['w=4&f=png&page=2', [0, 200, 0, 255]],
    ] as const) {
      const image = await requested(src, query)
      expect((await sharp(image).metadata()).pages ?? 1, query).to.equal(1)
      await expectColour(image, colour)
    }
    expect((await exchange(service, `${src}?page=4&f=png`)).status).to.equal(400)
  })

  it('leaves out a first image that is not a frame, and has the number of frames in its information', async () => {
    const src = await uploaded(apng(FRAMES, { hidden: [9, 9, 9, 255] }))
    const image = await requested(src, 'w=4&f=webp&lossless')
    expect((await sharp(image, { animated: true }).metadata()).pages).to.equal(3)
    await expectColour(image, RED)
    const known = await exchange(service, src.replace('/upload/', '/info/'))
    expect(jsonOf(known)).to.include({ width: 8, height: 6, pages: 3 })
  })

  it('is refused when it states too many frames, and never stops the service', async () => {
    const many = await exchange(
      service,
      `${await uploaded(apng(FRAMES, { count: 4_000_000_000 }))}?w=4&f=webp`,
    )
    expect(jsonOf(many)).to.include({ status: 422 })
    const statuses = new Set<number>()
    for (const bytes of mutated([apng(FRAMES)], { count: sized(4, 12), spared: 41 }))
      statuses.add((await exchange(service, `${await uploaded(bytes)}?w=4&f=webp`)).status)
    expect([200, 422]).to.include.members([...statuses])
  })
})
