import { randomBytes } from 'node:crypto'
import { Agent, get as httpGet } from 'node:http'
import { expect } from 'chai'
import pLimit from 'p-limit'
import sharp from 'sharp'
import { usedHeap } from '../support/heavy.ts'
import { corrupted, picture } from '../support/media/images.ts'
import { NO_LIMITS } from '../support/no-limits.ts'
import { uploadOne } from '../support/requests/client.ts'
import { type Service, startService } from '../support/service.ts'
import { sized } from '../support/sized.ts'

const LONG = 'x'.repeat(14_000)
// If each left its link in memory, there would be three times what is allowed, and of the failures, five times.
const LINKS = sized(1000, 3000)
const FAILURES = sized(25, 120)

describe('what requests leave in memory', () => {
  let service: Service
  let agent: Agent
  before(async () => {
    service = await startService({ env: { ...NO_LIMITS, HOT_CACHE_BYTES: '1000000' } })
    agent = new Agent({ keepAlive: true, maxSockets: 8 })
  })
  after(async () => {
    agent.destroy()
    await service.stop()
  })

  function statusOf(target: string): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const headers = { Accept: 'image/webp' }
      httpGet(`${service.url}${target}`, { agent, headers }, (res) => {
        res.resume().once('end', () => resolve(res.statusCode))
      }).once('error', reject)
    })
  }

  /** The heap that this many requests leave behind. */
  async function grownBy(count: number, targetOf: (i: number) => string, status: number): Promise<number> {
    await statusOf(targetOf(count))
    const before = usedHeap()
    const atOnce = pLimit(8)
    const statuses = await Promise.all(
      Array.from({ length: count }, (_, i) => atOnce(() => statusOf(targetOf(i)))),
    )
    expect(new Set(statuses)).to.deep.equal(new Set([status]))
    return usedHeap() - before
  }

  it(`is little after ${LINKS} long links to one derivative`, async () => {
    const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const path = new URL(src).pathname
    const bytes = await grownBy(LINKS, (i) => `${path}?w=50&f=auto&utm_source=${i}_${LONG}`, 200)
    expect(bytes).to.be.below(4_000_000)
  })

  it(`is little after ${FAILURES} failed derivatives of a broken file of 400 KB`, async () => {
    const noise = await sharp(randomBytes(400 * 340 * 3), { raw: { width: 400, height: 340, channels: 3 } })
      .png()
      .toBuffer()
    const { src } = await uploadOne(service, { name: 'broken.png', bytes: corrupted(noise) })
    const path = new URL(src).pathname
    const bytes = await grownBy(FAILURES, (i) => `${path}?w=${i + 10}`, 422)
    expect(bytes).to.be.below(2_000_000)
  })
})
