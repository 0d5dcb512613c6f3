import type { Ledger, LedgerEntry } from '../../core/ports/ledger.ts'
import type { DiskReserve } from '../disk/disk-reserve.ts'
import { createInTurn } from '../in-turn.ts'
import { openResilientLevel, type Row, type StorePlace } from '../level/resilient-level.ts'

interface Entry {
  text: string
  forgetAt: number
}

/** A ledger that one process has alone. */
export interface EmbeddedLedger extends Ledger {
  /** All texts that have not expired. */
  entries(): Promise<LedgerEntry[]>
  close(): Promise<void>
}

const ALL = { gt: '', lt: '\uffff' }
// A day of links is a few thousand rows: a scan takes milliseconds.
const FORGET_EVERY_MS = 3_600_000

/** A ledger in a LevelDB folder, for one process. @throws when another process has the folder open */
export async function embeddedLedger(
  place: StorePlace,
  { now = Date.now, ...options }: { now?: () => number; reserve?: DiskReserve } = {},
): Promise<EmbeddedLedger> {
  const level = await openResilientLevel(place, options)
  const inTurn = createInTurn()
  let forgotAt = Number.NEGATIVE_INFINITY

  const entryOf = async (name: string) => {
    const [entry] = (await level.get([name])) as [Entry | undefined]
    return entry && entry.forgetAt > now() ? entry : undefined
  }

  async function outdated(): Promise<Row[]> {
    if (now() < forgotAt + FORGET_EVERY_MS) return []
    forgotAt = now()
    const rows = (await level.rows(ALL)) as Array<[string, Entry]>
    return rows.filter(([, { forgetAt }]) => forgetAt <= now()).map(([key]) => ({ type: 'del', key }))
  }

  return {
    find: async (name) => (await entryOf(name))?.text,
    replace: (name, before, after, { forgetAt }) =>
      inTurn([name], async () => {
        if ((await entryOf(name))?.text !== before) return false
        const gone = (await outdated()).filter(({ key }) => key !== name)
        const row: Row =
          after === undefined
            ? { type: 'del', key: name }
            : { type: 'put', key: name, value: { text: after, forgetAt } }
        await level.write([...gone, row])
        return true
      }),
    async entries() {
      const rows = (await level.rows(ALL)) as Array<[string, Entry]>
      return rows.filter(([, { forgetAt }]) => forgetAt > now()).map(([name, entry]) => ({ name, ...entry }))
    },
    close: () => level.close(),
  }
}
