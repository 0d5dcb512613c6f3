import type { FileRef } from '../../../core/files/file-ref.ts'
import type { ObjectKey } from '../../../core/files/object-key.ts'
import type { FileLists, OriginalEntry } from '../../../core/ports/file-index.ts'
import type { FileSearch, Findable } from '../../../core/ports/index/file-search.ts'
import type { ResilientLevel, Row } from '../../level/resilient-level.ts'
import { listed, positionOf } from '../positions.ts'
import { row, under } from '../rows.ts'
import { searchedKeys, searchTerms } from '../search-terms.ts'

const SEARCHABLE = 'searchable'
// Sorts after all characters of names.
const LAST = '\u{10FFFF}'

/** The rows `s client term original` of an original. */
export function searchRows({ clientId, key }: FileRef, record: Findable): Row[] {
  return searchTerms(record).map((term) => ({ type: 'put', key: row('s', clientId, term, key), value: 0 }))
}

/** The row that states that the store has the search rows of all originals. */
export const SEARCHABLE_ROW: Row = { type: 'put', key: SEARCHABLE, value: 1 }

/** Reads the rows of a search. @param entriesOf returns the entries of originals, in their order */
export function embeddedSearch(
  level: ResilientLevel,
  entriesOf: (refs: readonly FileRef[]) => Promise<Array<OriginalEntry | undefined>>,
): FileSearch & Pick<FileLists, 'pick'> {
  return {
    search: (clientId, term, { most }) =>
      searchedKeys(term, {
        most,
        async read(one) {
          const from = row('s', clientId, 'whole' in one ? one.whole : one.beginning)
          const range = 'whole' in one ? under(from) : { gt: from, lt: `${from}${LAST}` }
          const names = await level.names({ ...range, limit: most + 1 })
          return names.map((name) => {
            const end = name.lastIndexOf('\0')
            return [name.slice(0, end), name.slice(end + 1)]
          })
        },
      }),
    async pick(clientId, { state, by, keys }) {
      const entries = await entriesOf(keys.map((key: ObjectKey) => ({ clientId, key })))
      return entries.flatMap((entry) =>
        entry?.state === state ? [listed(entry, positionOf(entry.record, by))] : [],
      )
    },
    async isSearchable(clientId, record) {
      const names = searchRows({ clientId, key: record.key }, record).map(({ key }) => key)
      return !(await level.get(names)).includes(undefined)
    },
    canSearch: async () => (await level.get([SEARCHABLE]))[0] !== undefined,
  }
}
