import { expect } from 'chai'
import sharp from 'sharp'
import type { Asset } from '../../../src/core/bytes/asset.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { Problem } from '../../../src/core/problem.ts'
import { createPlanner, type Planner } from '../../../src/pipeline/plan/plan.ts'
import { createDispatcher } from '../../../src/pipeline/run/dispatch.ts'
import { picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import { NO_CPU_LIMIT } from '../../support/requests/callers.ts'
import { assetOf, context } from '../image/transform.ts'
import { ENGINES, loadWith } from '../load/drop-ins.ts'

const MARK = 'image/png/7JAiMJ5xg1xH6JYSiPjo5R.png'
const HANG_MS = 4000

describe('the forecast of a watermark', () => {
  let plan: Planner
  let base: Asset
  before(async () => {
    plan = createPlanner((await loadWith({})).transforms, [])
    base = assetOf(await picture(), 'png')
  })

  /** Where it is made, how long that may take, and what is reckoned with. */
  async function dispatched(query: string, mark: Asset | undefined) {
    let bytes = 0
    const made =
      (where: string) =>
      async (_plan: unknown, _source: Asset, { limits }: { limits: { timeoutMs: number } }) => {
        place = { where, timeoutMs: limits.timeoutMs }
        return base
      }
    let place = { where: 'nowhere', timeoutMs: 0 }
    const run = createDispatcher({
      engines: ENGINES,
      admit: (work, wish) => {
        bytes = wish.bytes
        return work(() => {})
      },
      look: (work) => work(() => {}),
      cpuTime: NO_CPU_LIMIT,
      here: made('here'),
      elsewhere: made('elsewhere'),
      room: { bytes: 1e9, atOnce: 2 },
      hangMs: HANG_MS,
      metrics: { transformed() {} },
    })
    const asset = async () => mark ?? Promise.reject(new Error('no file was named'))
    const input = { query: new URLSearchParams(query), format: knownFormat('png'), preferences: {} }
    await run(plan(input), base, context({ asset }))
    return { ...place, bytes }
  }

  const large = (format: 'png' | 'tiff' | 'jpeg') =>
    sharp({ create: { width: 3000, height: 2000, channels: 3, background: '#f00' } })
      .toFormat(format)
      .toBuffer()

  it('includes its memory, from its header', async () => {
    const alone = await dispatched('w=100', undefined)
    const small = await dispatched(
      `w=100&wm=${MARK}`,
      assetOf(await picture({ width: 20, height: 20 }), 'png'),
    )
    const heavy = await dispatched(`w=100&wm=${MARK}`, assetOf(await large('png'), 'png'))
    expect(small.bytes).to.be.within(alone.bytes, alone.bytes + 300_000)
    // Six megapixels, of several bytes each.
    expect(heavy.bytes).to.be.above(small.bytes + 6e6)
    for (const { where, timeoutMs } of [alone, small, heavy]) {
      expect(where).to.equal('here')
      expect(timeoutMs).to.be.above(HANG_MS)
    }
  })

  it('includes the size in which it is drawn', async () => {
    const mark = assetOf(await picture({ width: 20, height: 20 }), 'png')
    const small = await dispatched(`w=200&h=100&wm=${MARK}&wm_size=1`, mark)
    const wide = await dispatched(`w=200&h=100&wm=${MARK}&wm_size=100`, mark)
    // Red, green, blue and transparency of each pixel.
    expect(wide.bytes - small.bytes).to.be.closeTo(4 * 200 * 100 * 0.99, 1)
  })

  it('counts the first frame only, which is the one that is drawn', async () => {
    const frames = Array.from({ length: 40 }, (_, i) => ({ r: i * 6, g: 0, b: 0 }))
    const still = await sharp({ create: { width: 200, height: 200, channels: 3, background: '#f00' } })
      .gif()
      .toBuffer()
    const pictures = frames.map((background) => ({
      create: { width: 200, height: 200, channels: 3 as const, background },
    }))
    const encoded = await Promise.all(pictures.map((frame) => sharp(frame).png().toBuffer()))
    const moving = await sharp(encoded, { join: { animated: true } })
      .gif()
      .toBuffer()
    const one = await dispatched(`wm=${MARK}`, assetOf(still, 'gif'))
    const all = await dispatched(`wm=${MARK}`, assetOf(moving, 'gif'))
    expect(all.bytes - one.bytes).to.be.closeTo(moving.length - still.length, 10)
  })

  for (const format of ['svg', 'tiff'] as const) {
    it(`moves the work to a child process when the watermark may hang: ${format}`, async () => {
      const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
      const mark = assetOf(format === 'svg' ? svg : await large('tiff'), format)
      expect(await dispatched(`w=100&wm=${MARK}`, mark)).to.include({
        where: 'elsewhere',
        timeoutMs: HANG_MS,
      })
    })
  }

  it('is a 422 that names wm, before the wait, for an unusable watermark', async () => {
    const error = await rejection(dispatched(`wm=${MARK}`, assetOf(Buffer.from('no picture'), 'png')))
    expect(error).to.be.instanceOf(Problem).that.includes({ status: 422, code: 'not_transformable' })
    expect(error).to.have.nested.property('members.param', 'wm')
    expect(error)
      .to.have.property('message')
      .that.matches(/^The file of wm cannot be used: expected an image/)
  })

  it('passes on errors that the file did not cause', async () => {
    const outage = new Error('the bucket is away')
    const away = { ...base, open: () => Promise.reject(outage) }
    expect(await rejection(dispatched(`wm=${MARK}`, away))).to.equal(outage)
  })
})
