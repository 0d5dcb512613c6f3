import { storedKey } from '../../../core/files/object-key.ts'
import type { RecordChange, RecordChanges } from '../../../core/ports/index/record-changes.ts'
import type { ResilientLevel } from '../../level/resilient-level.ts'
import { sortable } from '../positions.ts'
import { row, under } from '../rows.ts'

const AT_MOST = 1000
// After a power cut the index is compared as a whole.
const NOT_FLUSHED = { durable: false }

/**
 * The rows `c instant client original` of changes in progress. The store belongs to one process, so rows that
 * exist when it is opened belong to a process that has ended: they are overdue.
 */
export async function embeddedChanges(level: ResilientLevel): Promise<RecordChanges> {
  const inherited = new Set(await level.names(under('c')))
  const nameOf = ({ ref, until }: RecordChange) => row('c', sortable(until), ref.clientId, ref.key)
  return {
    beginChange: (change) =>
      level.write([{ type: 'put', key: nameOf(change), value: change.until }], NOT_FLUSHED),
    async endChange(change) {
      await level.write([{ type: 'del', key: nameOf(change) }], NOT_FLUSHED)
      inherited.delete(nameOf(change))
    },
    async overdueChanges(now) {
      const { gt } = under('c')
      const names = await level.names({ gt, lt: row('c', sortable(now + 1)), limit: AT_MOST })
      const all = [...new Set([...inherited, ...names])].slice(0, AT_MOST)
      const untils = await level.get(all)
      return all.flatMap((name, i) => {
        const [, , clientId = '', key = ''] = name.split('\0')
        const until = untils[i]
        return until === undefined ? [] : [{ ref: { clientId, key: storedKey(key) }, until: Number(until) }]
      })
    },
  }
}
