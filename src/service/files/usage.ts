import { classifyKey, parseKey } from '../../core/files/object-key.ts'
import { INFORMATION_VARIANT } from '../../core/files/variant.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import type { FileLists, Totals } from '../../core/ports/file-index.ts'
import { type DayUsage, USAGE_NAMES, type UsageName, type UsageStore } from '../../core/ports/usage.ts'
import { type Day, dayOf, daysBetween } from '../../core/text/day.ts'

/** What clients use. Counts are gathered in memory: those of the last seconds are lost when the process is killed. */
export interface Usage {
  /** Something was sent to whoever asked for a client's files. */
  delivered(clientId: string, bytes: number): void
  /** Counts what happens from now on. */
  listen(events: EventBus): void
  /** Writes down what has been counted. What fails is tried again with the next. */
  flush(): Promise<void>
  /** Of one client: what it stores now, derivatives aside, and what it has used on each day. Others' last seconds may be missing. */
  of(
    clientId: string,
    period: { from: Day; to: Day },
  ): Promise<{ stored: Totals; days: Array<{ day: Day } & Record<UsageName, number>> }>
}

// A million originals take four seconds to be counted, where nobody keeps a count: then twenty times as long that is good
// enough.
const GOOD_FOR = 20

export function createUsage({
  index,
  store,
  now = Date.now,
}: {
  index: FileLists
  store: UsageStore
  now?: () => number
}): Usage {
  let unwritten = new Map<
    string,
    { clientId: string; day: Day; counts: Partial<Record<UsageName, number>> }
  >()
  let flushing: Promise<void> | undefined
  const totals = new Map<string, { value: Totals; goodUntil: number }>()
  let counting: Promise<unknown> = Promise.resolve()

  function add({ clientId, day, counts }: DayUsage): void {
    const name = `${clientId} ${day}`
    const sum = unwritten.get(name) ?? { clientId, day, counts: {} }
    unwritten.set(name, sum)
    for (const [key, by] of Object.entries(counts) as Array<[UsageName, number]>)
      sum.counts[key] = (sum.counts[key] ?? 0) + by
  }
  const count = (clientId: string, counts: DayUsage['counts']) => add({ clientId, day: dayOf(now()), counts })

  async function write(): Promise<void> {
    const usage = [...unwritten.values()]
    unwritten = new Map()
    try {
      if (usage.length > 0) await store.add(usage)
    } catch (error) {
      for (const day of usage) add(day)
      throw error
    }
  }

  function flush(): Promise<void> {
    flushing ??= write().finally(() => {
      flushing = undefined
    })
    return flushing
  }

  /** One client after the other: to read through a large list is work. */
  function totalsOf(clientId: string): Promise<Totals> {
    const answer = counting.then(async () => {
      const known = totals.get(clientId)
      if (known && performance.now() < known.goodUntil) return known.value
      const startedAt = performance.now()
      const value = await index.totals(clientId)
      const endedAt = performance.now()
      totals.set(clientId, { value, goodUntil: endedAt + GOOD_FOR * (endedAt - startedAt) })
      return value
    })
    counting = answer.catch(() => {})
    return answer
  }

  return {
    delivered: (clientId, bytes) => count(clientId, { deliveries: 1, deliveredBytes: bytes }),
    listen(events) {
      events.on('original.stored', 'usage', ({ clientId, size }) =>
        count(clientId, { uploads: 1, uploadedBytes: size }),
      )
      events.on('derivative.stored', 'usage', ({ clientId, key }) => {
        // What is known of a file is made of it as well, and is no transformation that anybody has asked for.
        const isInformation = parseKey(key)?.variant === INFORMATION_VARIANT
        if (!isInformation && classifyKey(key)?.kind === 'derivative') count(clientId, { transformations: 1 })
      })
    },
    flush,
    async of(clientId, { from, to }) {
      const stored = await totalsOf(clientId)
      // What one that is under way has left out.
      await flushing?.catch(() => {})
      await flush()
      const asked = daysBetween(from, to)
      const known = new Map((await store.read(clientId, asked)).map(({ day, counts }) => [day, counts]))
      return { stored, days: asked.map((day) => ({ day, ...all(known.get(day)) })) }
    },
  }
}

/** All counts: 0 for those that are missing. */
function all(counts: DayUsage['counts'] = {}): Record<UsageName, number> {
  return Object.fromEntries(USAGE_NAMES.map((name) => [name, counts[name] ?? 0])) as Record<UsageName, number>
}
