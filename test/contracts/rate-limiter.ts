import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { RateLimiter, RateVerdict } from '../../src/core/ports/rate-limiter.ts'

const HOUR_MS = 3_600_000

export interface OpenedRateLimiter {
  limiter: RateLimiter
  /** The same counts as another process sees them; where there is only one process, `limiter` itself. */
  elsewhere: RateLimiter
  close(): Promise<void>
}

/** What every {@link RateLimiter} has to do, seen through the port alone. */
export function rateLimiterContract(
  name: string,
  open: (limit: { points: number; seconds: number }) => Promise<OpenedRateLimiter>,
): void {
  describe(`${name}: the contract of RateLimiter`, () => {
    const points = 5
    let opened: OpenedRateLimiter
    let limiter: RateLimiter
    let elsewhere: RateLimiter
    let key: string

    // A window that no test outlives, save for the one that waits for its end.
    before(async () => {
      opened = await open({ points, seconds: 3600 })
      limiter = opened.limiter
      elsewhere = opened.elsewhere
    })
    after(() => opened.close())
    beforeEach(() => {
      key = `client ${Math.random()}`
    })

    it('returns its limit', () => {
      expect([limiter.points, limiter.seconds]).to.deep.equal([points, 3600])
    })

    it('allows as many requests as it has points, and counts down', async () => {
      const verdicts = await consume(points + 3, (i) => (i % 2 === 0 ? limiter : elsewhere).consume(key))
      expect(verdicts.map(({ allowed }) => allowed)).to.deep.equal([
        ...Array.from({ length: points }, () => true),
        ...Array.from({ length: 3 }, () => false),
      ])
      expect(verdicts.map(({ remaining }) => remaining)).to.deep.equal([4, 3, 2, 1, 0, 0, 0, 0])
    })

    it('returns the time until the window ends, which refusals do not extend', async () => {
      const [first, ...rest] = await consume(points + 5, () => limiter.consume(key))
      expect(first?.resetMs).to.be.within(1_000_000, HOUR_MS)
      await pause(30)
      for (const { resetMs } of [...rest, await limiter.consume(key)])
        expect(resetMs).to.be.within(1, first?.resetMs ?? 0)
      const last = await limiter.consume(key)
      expect(last.resetMs).to.be.below(first?.resetMs ?? 0)
    })

    it('counts each key separately, whatever it contains', async () => {
      const keys = ['', 'a', 'a:b', 'a b', '__proto__', 'constructor', 'ü', `${'k'.repeat(500)}`]
      for (const one of keys.map((each) => `${key}${each}`)) {
        const verdicts = await consume(points, () => limiter.consume(one))
        expect(verdicts.at(-1), one).to.include({ allowed: true, remaining: 0 })
      }
      expect(await limiter.consume('__proto__')).to.include({ remaining: points - 1 })
    })

    it('allows no more of 50 concurrent requests', async () => {
      const verdicts = await Promise.all(
        Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? limiter : elsewhere).consume(key)),
      )
      expect(verdicts.filter(({ allowed }) => allowed)).to.have.length(points)
    })

    it('reads a key without taking a point, also an unknown one', async () => {
      expect(await limiter.look(key)).to.deep.equal({ allowed: true, remaining: points, resetMs: 0 })
      await limiter.consume(key)
      for (const one of [limiter, elsewhere, limiter]) {
        const { allowed, remaining, resetMs } = await one.look(key)
        expect({ allowed, remaining }).to.deep.equal({ allowed: true, remaining: points - 1 })
        expect(resetMs).to.be.within(1_000_000, HOUR_MS)
      }
      await consume(points, () => limiter.consume(key))
      expect(await elsewhere.look(key)).to.include({ allowed: false, remaining: 0 })
    })

    it('charges points that are already used, also more than remain, and keeps all of them', async () => {
      await limiter.charge(key, 3)
      expect(await elsewhere.look(key)).to.include({ allowed: true, remaining: 2 })
      await elsewhere.charge(key, 1000)
      const spent = await limiter.look(key)
      expect(spent).to.include({ allowed: false, remaining: 0 })
      expect(spent.resetMs).to.be.within(1_000_000, HOUR_MS)
      expect(await limiter.consume(key)).to.include({ allowed: false })
      await Promise.all(Array.from({ length: 20 }, () => limiter.charge(`${key} at once`, 1)))
      expect(await elsewhere.look(`${key} at once`)).to.include({ allowed: false })
    })

    it('has all points again when the window in which they were charged ends', async () => {
      const short = await open({ points: 2, seconds: 1 })
      try {
        const { resetMs } = await untilRefused(async () => {
          await short.limiter.charge(key, 50)
          return short.elsewhere.look(key)
        })
        await pause(resetMs + 20)
        expect(await short.elsewhere.look(key)).to.include({ allowed: true, remaining: 2 })
      } finally {
        await short.close()
      }
    })

    it('begins a new window at the announced time', async () => {
      const short = await open({ points: 2, seconds: 1 })
      try {
        const { resetMs } = await untilRefused(() => short.limiter.consume(key))
        expect(resetMs).to.be.at.most(1000)
        await pause(resetMs + 20)
        expect(await short.elsewhere.consume(key)).to.include({ allowed: true, remaining: 1 })
        await untilRefused(() => short.elsewhere.consume(key))
      } finally {
        await short.close()
      }
    })
  })
}

/** On a slow machine, a window may be over before its last point is taken: then the next one is used up. */
async function untilRefused(next: () => Promise<RateVerdict>): Promise<RateVerdict> {
  for (;;) {
    const verdict = await next()
    if (!verdict.allowed) return verdict
  }
}

/** One after the other. */
async function consume(times: number, one: (i: number) => Promise<RateVerdict>): Promise<RateVerdict[]> {
  const verdicts: RateVerdict[] = []
  for (let i = 0; i < times; i += 1) verdicts.push(await one(i))
  return verdicts
}
