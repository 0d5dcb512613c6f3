import { type DayUsage, USAGE_RETENTION_DAYS, type UsageStore } from '../../core/ports/usage.ts'
import { type Day, dayOf, daysBefore } from '../../core/text/day.ts'
import type { DiskReserve } from '../disk/disk-reserve.ts'
import { createInTurn } from '../in-turn.ts'
import { openResilientLevel } from '../level/resilient-level.ts'

// A power cut may undo the last counts. That is acceptable.
const NOT_FLUSHED = { durable: false }

/** Counts that one process has alone. */
export interface EmbeddedUsage extends UsageStore {
  /** All days of all clients. */
  all(): Promise<DayUsage[]>
  close(): Promise<void>
}

const ALL = { gt: '', lt: '\uffff' }

/**
 * Counts in a LevelDB folder, which belongs to one process at a time. It has one row per client and day, with the name
 * `<client>\0<day>`. Rows that are too old are deleted when it is opened.
 *
 * @throws when another process has the folder open
 */
export async function embeddedUsage(
  folder: string,
  { now = Date.now, ...options }: { now?: () => number; reserve?: DiskReserve } = {},
): Promise<EmbeddedUsage> {
  const level = await openResilientLevel(folder, options)
  const inTurn = createInTurn()
  const first = daysBefore(dayOf(now()), USAGE_RETENTION_DAYS)
  const old = (await level.names(ALL)).filter((name) => name.slice(name.indexOf('\0') + 1) < first)
  if (old.length > 0)
    await level.write(
      old.map((key) => ({ type: 'del', key })),
      NOT_FLUSHED,
    )
  const rowOf = ({ clientId, day }: Pick<DayUsage, 'clientId' | 'day'>) => `${clientId}\0${day}`

  return {
    add: (usage) =>
      inTurn(['all'], async () => {
        if (usage.length === 0) return
        const sums = new Map<string, Record<string, number>>()
        const names = usage.map(rowOf)
        const known = (await level.get(names)) as Array<DayUsage['counts'] | undefined>
        for (const [i, { counts }] of usage.entries()) {
          const name = names[i] as string
          const sum = sums.get(name) ?? { ...known[i] }
          for (const [count, by] of Object.entries(counts)) sum[count] = (sum[count] ?? 0) + by
          sums.set(name, sum)
        }
        await level.write(
          [...sums].map(([key, value]) => ({ type: 'put', key, value })),
          NOT_FLUSHED,
        )
      }),
    async read(clientId, days) {
      const found = await level.get(days.map((day) => rowOf({ clientId, day })))
      return days.map((day, i) => ({ clientId, day, counts: (found[i] ?? {}) as DayUsage['counts'] }))
    },
    async all() {
      const rows = (await level.rows(ALL)) as Array<[string, DayUsage['counts']]>
      return rows.map(([name, counts]) => {
        const end = name.indexOf('\0')
        return { clientId: name.slice(0, end), day: name.slice(end + 1) as Day, counts }
      })
    },
    close: () => level.close(),
  }
}
