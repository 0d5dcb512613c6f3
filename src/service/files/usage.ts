import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import { classifyKey, parseKey } from '../../core/files/object-key.ts'
import { INFORMATION_VARIANT } from '../../core/files/variant.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import type { FileLists } from '../../core/ports/file-index.ts'
import type { Totals } from '../../core/ports/index/listed-state.ts'
import { type DayUsage, USAGE_NAMES, type UsageName, type UsageStore } from '../../core/ports/usage.ts'
import { type Day, dayOf, daysBetween } from '../../core/text/day.ts'

/** Usage of clients. Counts are collected in memory: those since the last flush are lost when the process is killed. */
export interface Usage {
  /** Counts a delivery of a client's file. */
  delivered(clientId: string, bytes: number): void
  /** Counts a delivery that has failed: with a status from 400, except 423 while a media job is in progress. */
  failed(clientId: string): void
  /** Counts a request for a derivative that was stored already. */
  cacheHit(clientId: string): void
  /** Counts events from now on. */
  listen(events: EventBus): void
  /** Writes the counts to the store. A failed write is repeated with the next flush. */
  flush(): Promise<void>
  /**
   * Of one client: its stored files without derivatives, and its usage
   * per day. The last seconds of other processes may be missing.
   */
  of(
    clientId: string,
    period: Period,
  ): Promise<{ stored: Totals; days: Array<{ day: Day } & Record<UsageName, number>> }>
  /** The days of several clients that have counts, and today of each client, with the size of its stored files. */
  ofClients(clientIds: readonly string[], period: Period): Promise<ClientDay[]>
}

/** Both days are inclusive. */
export interface Period {
  from: Day
  to: Day
}

/** One day of one client. */
export type ClientDay = { clientId: string; day: Day; storedBytes?: number } & Record<UsageName, number>

interface Sum {
  clientId: string
  day: Day
  counts: Partial<Record<UsageName, number>>
}

// Where the index has no counters, counting a million originals takes
// four seconds. The result is then cached for twenty times as long.
const CACHE_FACTOR = 20
const CLIENTS_AT_ONCE = 8

export function createUsage({
  index,
  store,
  now = Date.now,
}: {
  index: FileLists
  store: UsageStore
  now?: () => number
}): Usage {
  let unwritten = new Map<string, Sum>()
  // Most requests are of the same client as the one before.
  let latest: Sum | undefined
  let flushing: Promise<void> | undefined
  const totals = new Map<string, { value: Totals; validUntil: number }>()
  let counting: Promise<unknown> = Promise.resolve()

  function add({ clientId, day, counts }: DayUsage): void {
    const sum = sumOf(clientId, day)
    for (const [key, by] of Object.entries(counts) as Array<[UsageName, number]>)
      sum.counts[key] = (sum.counts[key] ?? 0) + by
  }
  function sumOf(clientId: string, day: Day): Sum {
    if (latest?.clientId === clientId && latest.day === day) return latest
    const name = `${clientId} ${day}`
    latest = unwritten.get(name) ?? { clientId, day, counts: {} }
    unwritten.set(name, latest)
    return latest
  }
  const count = (clientId: string, counts: DayUsage['counts']) => add({ clientId, day: dayOf(now()), counts })

  async function write(): Promise<void> {
    const usage = [...unwritten.values()]
    unwritten = new Map()
    latest = undefined
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

  /** Writes the latest counts. A flush in progress may not include them. */
  async function flushLatest(): Promise<void> {
    await flushing?.catch(() => {})
    await flush()
  }

  /** One client at a time: scanning a large list is expensive. */
  function totalsOf(clientId: string): Promise<Totals> {
    const counted = counting.then(async () => {
      const known = totals.get(clientId)
      if (known && performance.now() < known.validUntil) return known.value
      const startedAt = performance.now()
      const value = await index.totals(clientId)
      const endedAt = performance.now()
      totals.set(clientId, { value, validUntil: endedAt + CACHE_FACTOR * (endedAt - startedAt) })
      return value
    })
    counting = counted.catch(() => {})
    return counted
  }

  return {
    delivered(clientId, bytes) {
      const { counts } = sumOf(clientId, dayOf(now()))
      counts.deliveries = (counts.deliveries ?? 0) + 1
      counts.deliveredBytes = (counts.deliveredBytes ?? 0) + bytes
    },
    failed: (clientId) => count(clientId, { errors: 1 }),
    cacheHit: (clientId) => count(clientId, { cacheHits: 1 }),
    listen(events) {
      events.on('original.stored', 'usage', ({ clientId, size, copiedFrom, movedFrom }) => {
        const isUpload = copiedFrom === undefined && movedFrom === undefined
        if (isUpload) count(clientId, { uploads: 1, uploadedBytes: size })
      })
      events.on('derivative.stored', 'usage', ({ clientId, key }) => {
        // File information is stored as a derivative, but it is not a transformation that a client has requested.
        const isInformation = parseKey(key)?.variant === INFORMATION_VARIANT
        if (!isInformation && classifyKey(key)?.kind === 'derivative') count(clientId, { transformations: 1 })
      })
    },
    flush,
    async of(clientId, { from, to }) {
      const stored = await totalsOf(clientId)
      await flushLatest()
      const days = daysBetween(from, to)
      const known = new Map((await store.read(clientId, days)).map(({ day, counts }) => [day, counts]))
      return { stored, days: days.map((day) => ({ day, ...all(known.get(day)) })) }
    },
    async ofClients(clientIds, { from, to }) {
      await flushLatest()
      const today = dayOf(now())
      const days = daysBetween(from, to)
      const isToday = from <= today && today <= to
      const work = async (clientId: string) => {
        const storedBytes = isToday ? (await totalsOf(clientId)).stored.bytes : undefined
        const known = new Map((await store.read(clientId, days)).map(({ day, counts }) => [day, counts]))
        return days.flatMap((day): ClientDay[] => {
          const counts = known.get(day) ?? {}
          if (day === today && storedBytes !== undefined)
            return [{ clientId, day, storedBytes, ...all(counts) }]
          return Object.keys(counts).length > 0 ? [{ clientId, day, ...all(counts) }] : []
        })
      }
      const found: ClientDay[] = []
      for await (const ofClient of mapConcurrent(clientIds, { concurrency: CLIENTS_AT_ONCE, work }))
        found.push(...ofClient)
      return found
    },
  }
}

/** Completes the counts: 0 for missing ones. */
function all(counts: DayUsage['counts'] = {}): Record<UsageName, number> {
  return Object.fromEntries(USAGE_NAMES.map((name) => [name, counts[name] ?? 0])) as Record<UsageName, number>
}
