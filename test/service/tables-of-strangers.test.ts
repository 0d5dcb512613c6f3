import { expect } from 'chai'
import { memoryRateLimiter } from '../../src/adapters/rate-limiter/memory.ts'
import { boundedCache } from '../../src/core/budgets/bounded-cache.ts'
import { createFailures } from '../../src/core/budgets/failures.ts'
import { knownFormat } from '../../src/core/media/formats.ts'
import { badParameter } from '../../src/core/problem.ts'
import { notDecodable } from '../../src/core/transform-problems.ts'
import { cachedPlans } from '../../src/pipeline/plan/cached-plans.ts'
import type { Plan } from '../../src/pipeline/plan/plan.ts'
import { createNotedUses } from '../../src/service/derivatives/noted-uses.ts'
import { createOftenDelivered } from '../../src/service/recompression/often-delivered.ts'
import { usedHeap } from '../support/heavy.ts'
import { recordLog } from '../support/service.ts'
import { sized } from '../support/sized.ts'

// Without a limit, 12,000 of them take more than any table here may, but for the counts.
const NAMES = sized(12_000, 20_000)
// The longest path that a request may have in most of these tables.
const LONG = 'x'.repeat(900)
const MB = 1_000_000

type Fill = (name: string) => unknown

/**
 * What fills a table by its name, and how much of the heap it may have then: its limit, the objects around its entries, and what
 * other tests of the process leave. Without a limit it would be 12 MB and more, except for the counts, which are 50,000 at most.
 */
const TABLES: ReadonlyArray<readonly [name: string, mostBytes: number, create: () => Fill, names?: number]> =
  [
    ['bounded cache', 5 * MB, () => (name) => boundedCacheOfAll.set(name, true)],
    [
      'failures',
      9 * MB,
      () => {
        const failures = createFailures()
        return (name) => failures.remember(name, notDecodable(`expected an image but ${name}`))
      },
    ],
    ['plans, with queries that are remembered', 8 * MB, () => planning(400)],
    ['plans, with queries that are too long', 4 * MB, () => planning(900)],
    // The last 1,000 of these are remembered. They take more than 9 MB when they hold their URLs.
    ['plans of queries in long URLs', 6 * MB, () => planning(400, 'x'.repeat(15_000)), sized(2000, 3000)],
    [
      'deliveries of each image',
      10 * MB,
      () => {
        const often = createOftenDelivered({ after: 3, found: () => {} })
        return (name) =>
          often.count({ clientId: 'first', derivative: name } as never, {
            query: [['w', name]],
            preferences: { accept: name },
          })
      },
    ],
    [
      'uses of derivatives',
      10 * MB,
      () => {
        const uses = createNotedUses({ index: { noteUse: async () => {} }, log: recordLog() })
        const ref = { clientId: 'first', key: 'image/png/1111111111111111111111.png' as never }
        return (name) => uses.note(ref, name as never, { isHeld: false })
      },
    ],
    [
      'counts of a rate limit, by address',
      24 * MB,
      () => {
        const limiter = memoryRateLimiter({ points: 5, seconds: 60 })
        // Without the rest of the name, which a part of a text would hold.
        return (name) => limiter.consume(Buffer.from(name.slice(0, 45)).toString())
      },
    ],
  ]

const boundedCacheOfAll = boundedCache<true>({ maxBytes: 2 * MB })

/** Every other query is refused. */
function planning(length: number, rest = ''): Fill {
  let made = 0
  const plan = cachedPlans(({ query }) => {
    made += 1
    if (made % 2 === 0) throw badParameter({ param: 'w', expected: 'a width', received: [...query].join() })
    const steps = [...query].map(([name, value]) => ({ params: { [name]: value } }))
    return { steps, variant: '', variesBy: [], notes: [] } as unknown as Plan
  })
  return (name) => {
    try {
      // A part of a text holds the whole of it, as a parameter its URL.
      const url = Buffer.from(`${name}${rest}`).toString()
      plan({ query: [['w', url.slice(0, length)]], format: knownFormat('png'), preferences: {} })
    } catch {
      // Refused, and remembered as such.
    }
  }
}

describe(`after ${NAMES} long names that a stranger has chosen`, () => {
  for (const [name, mostBytes, create, names = NAMES] of TABLES)
    it(`the table is bounded in bytes: ${name}`, async () => {
      const fill = create()
      await fill('warm')
      const before = usedHeap()
      // In turns, as requests come: what a promise holds is free then.
      for (let i = 0; i < names; i += 1) await fill(`${i} ${LONG}`)
      expect(usedHeap() - before).to.be.below(mostBytes)
      // The table is alive until here.
      await fill('last')
    })
})
