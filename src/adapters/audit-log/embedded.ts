import {
  AUDIT_ENTRIES_MAX,
  type AuditStore,
  isAudited,
  REFUSED_SIGN_IN,
  REFUSED_SIGN_INS_MAX,
  type StoredEntry,
} from '../../core/ports/audit-log.ts'
import { createInTurn } from '../in-turn.ts'
import { openResilientLevel, type ResilientLevelOptions, type Row } from '../level/resilient-level.ts'

// Names begin with digits, and ":" sorts after these.
const FIRST = ''
const LAST = ':'
// A row for each refused sign-in, whose value is empty: this, then the name of the entry.
const REFUSED = ';'
const LAST_REFUSED = '<'
const CHUNK = 200

/**
 * An audit log in a LevelDB folder, which belongs to one process at a time. With `refilled`, a damaged log is replaced by an empty
 * one.
 *
 * @throws when another process has the folder open
 */
export async function embeddedAuditLog(
  folder: string,
  {
    most = AUDIT_ENTRIES_MAX,
    mostRefused = REFUSED_SIGN_INS_MAX,
    ...options
  }: { most?: number; mostRefused?: number } & ResilientLevelOptions = {},
): Promise<AuditStore & { close(): Promise<void> }> {
  const level = await openResilientLevel(folder, options)
  const inTurn = createInTurn()
  let count = (await level.names({ gt: FIRST, lt: LAST })).length
  let refusedCount = (await level.names({ gt: REFUSED, lt: LAST_REFUSED })).length
  const [latest] = await level.names({ gt: FIRST, lt: LAST, limit: 1, reverse: true })
  let last = latest === undefined ? { at: 0, number: 0 } : partsOf(latest)

  const oldest = async (gt: string, lt: string, number: number) =>
    number > 0 ? level.names({ gt, lt, limit: number }) : []

  return {
    append: (entry) =>
      inTurn(['all'], async () => {
        // A clock that was set back must not change the order.
        const at = Math.max(entry.at, last.at)
        last = { at, number: at === last.at ? last.number + 1 : 0 }
        const id = `${at}-${last.number}`
        const name = nameOf(id)
        const isRefused = entry.action === REFUSED_SIGN_IN
        const refused = isRefused ? await oldest(REFUSED, LAST_REFUSED, refusedCount + 1 - mostRefused) : []
        const former = refused.map((row) => row.slice(REFUSED.length))
        const surplus = await oldest(FIRST, LAST, count + 1 - former.length - most)
        const removed = [...new Set([...former, ...surplus])]
        const marks = removed.map((one) => REFUSED + one)
        const removedMarks = (await level.get(marks)).filter((mark) => mark !== undefined).length
        const value: StoredEntry = { ...entry, id }
        const rows: Row[] = [
          { type: 'put', key: name, value },
          ...(isRefused ? [{ type: 'put' as const, key: REFUSED + name, value: '' }] : []),
          ...[...removed, ...marks].map((key): Row => ({ type: 'del', key })),
        ]
        await level.write(rows)
        count += 1 - removed.length
        refusedCount += (isRefused ? 1 : 0) - removedMarks
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
