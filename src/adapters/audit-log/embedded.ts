import {
  AUDIT_ENTRIES_MAX,
  type AuditStore,
  isAudited,
  type StoredEntry,
} from '../../core/ports/audit-log.ts'
import { createInTurn } from '../in-turn.ts'
import { openResilientLevel, type ResilientLevelOptions, type Row } from '../level/resilient-level.ts'

// Names begin with digits, and ":" sorts after these.
const FIRST = ''
const LAST = ':'
const CHUNK = 200

/**
 * An audit log in a LevelDB folder, which belongs to one process at a time. With `refilled`, a damaged log is replaced by an empty
 * one.
 *
 * @throws when another process has the folder open
 */
export async function embeddedAuditLog(
  folder: string,
  { most = AUDIT_ENTRIES_MAX, ...options }: { most?: number } & ResilientLevelOptions = {},
): Promise<AuditStore & { close(): Promise<void> }> {
  const level = await openResilientLevel(folder, options)
  const inTurn = createInTurn()
  let count = (await level.names({ gt: FIRST, lt: LAST })).length
  const [latest] = await level.names({ gt: FIRST, lt: LAST, limit: 1, reverse: true })
  let last = latest === undefined ? { at: 0, number: 0 } : partsOf(latest)

  return {
    append: (entry) =>
      inTurn(['all'], async () => {
        // A clock that was set back must not change the order.
        const at = Math.max(entry.at, last.at)
        last = { at, number: at === last.at ? last.number + 1 : 0 }
        const id = `${at}-${last.number}`
        const surplus = Math.max(count + 1 - most, 0)
        const oldest = surplus > 0 ? await level.names({ gt: FIRST, lt: LAST, limit: surplus }) : []
        const value: StoredEntry = { ...entry, id }
        const rows: Row[] = [
          { type: 'put', key: nameOf(id), value },
          ...oldest.map((key): Row => ({ type: 'del', key })),
        ]
        await level.write(rows)
        count += 1 - oldest.length
      }),

    async list({ before, limit, ...filter }) {
      const found: StoredEntry[] = []
      for (let lt = before === undefined ? LAST : nameOf(before); found.length < limit; ) {
        const names = await level.names({ gt: FIRST, lt, limit: CHUNK, reverse: true })
        const entries = (await level.get(names)) as Array<StoredEntry | undefined>
        // An old entry may have been removed since.
        found.push(...entries.filter((one) => one !== undefined).filter((one) => isAudited(one, filter)))
        if (names.length < CHUNK) break
        lt = names.at(-1) as string
      }
      return found.slice(0, limit)
    },

    close: () => inTurn(['all'], () => level.close()),
  }
}

/** The name of a row: both numbers of the ID in a fixed length, so that names sort as numbers. */
function nameOf(id: string): string {
  return id
    .split('-')
    .map((number) => number.padStart(16, '0'))
    .join('-')
}

function partsOf(name: string): { at: number; number: number } {
  const [at = 0, number = 0] = name.split('-').map(Number)
  return { at, number }
}
