import { boundedCache } from '../../../core/budgets/bounded-cache.ts'
import type { FileRef } from '../../../core/files/file-ref.ts'
import { type ObjectKey, storedKey } from '../../../core/files/object-key.ts'
import type { DerivativeEntry, OriginalEntry, Page } from '../../../core/ports/file-index.ts'
import type { FolderKeysRequest } from '../../../core/ports/index/folder-keys.ts'
import type { ListedState, Totals } from '../../../core/ports/index/listed-state.ts'
import type { PageRequest } from '../../../core/ports/index/page-request.ts'
import {
  openResilientLevel,
  type ResilientLevelOptions,
  type Row,
  type StorePlace,
  type WriteOptions,
} from '../../level/resilient-level.ts'
import { readDirectKeys } from '../direct-keys.ts'
import { type Bounds, boundsOf, LISTED_STATES, listed, placesOf, sortable } from '../positions.ts'
import { row, under } from '../rows.ts'
import { embeddedChanges } from './changes.ts'
import { countedWrites } from './counted-writes.ts'
import { dataName } from './data-name.ts'
import { type Derived, filesBetween } from './files-between.ts'
import { folderReads } from './folders.ts'
import { listing, listOf, relisting } from './listing.ts'
import { embeddedSearch, SEARCHABLE_ROW } from './search.ts'
import { usesTable } from './uses.ts'

// Names read at a time: about 100 kB.
const PAGE = 1000
// Of the cached numbers of derivatives: those of about 5,000 originals.
const COUNTS_MAX_BYTES = 2_000_000

type ListedEntry = Extract<OriginalEntry, { state: ListedState }>
type Entry = OriginalEntry | DerivativeEntry

/**
 * Opens a LevelDB folder.
 *
 * The rows, with NUL between their fields, which no key contains:
 *
 * - `o client original` and `d client original derivative`: the entries
 * - `u` and the name of an entry's row: an empty marker while that entry is unsettled, so that a sweep need not read the whole index
 * - `l client state order position`: a listed original with its size, in each order
 * - `x instant client original`: a trashed original, by the end of its retention
 * - `f client state parent name`: the counters of a folder, see `folders.ts`
 * - `s client term original`: a term by which an original is found, see `search.ts`
 * - `complete`, `counted` and `searchable`: set when the lists, the counters and the rows `s` have all files. `compared`: the name of the run in which the index was compared
 * - the rows of `uses.ts` and `changes.ts`
 */
export async function openIndexTable(place: StorePlace, options?: ResilientLevelOptions) {
  const level = await openResilientLevel(place, options)
  // Rows that a previous process left unsettled and that this one has not written yet.
  const inherited = new Set<string>()
  for (const marker of await level.names(under('u'))) inherited.add(marker.slice(2))

  // LevelDB has no counts, and reading a thousand names takes a millisecond. So this caches an upper bound of the derivatives of
  // an original, by the beginning of their rows: the last count, plus all rows written since then.
  const mostDerivatives = boundedCache<number>({ maxBytes: COUNTS_MAX_BYTES })

  const originalRow = ({ clientId, key }: FileRef) => row('o', clientId, key)
  const derivativeRow = ({ clientId, key }: FileRef, derivative: string) =>
    row('d', clientId, key, derivative)
  const set = (name: string, entry: Entry | undefined): Row[] => [
    entry ? { type: 'put', key: name, value: entry } : { type: 'del', key: name },
    entry && entry.state !== 'stored' && entry.state !== 'trashed'
      ? { type: 'put', key: row('u', name), value: 0 }
      : { type: 'del', key: row('u', name) },
  ]
  const isInherited = (name: string) => inherited.has(name)
  const hasInherited = (beginning: string) => [...inherited].some((name) => name.startsWith(beginning))
  const isOver = (ref: FileRef, { key, entry }: Derived, now: number) =>
    entry.state === 'pending' && (isInherited(derivativeRow(ref, key)) || entry.deadline <= now)

  const countOneMore = (beginning: string) => {
    const atMost = mostDerivatives.get(beginning)
    if (atMost !== undefined) mostDerivatives.set(beginning, atMost + 1)
  }

  const originals = async (refs: readonly FileRef[]) =>
    (await level.get(refs.map(originalRow))) as Array<OriginalEntry | undefined>

  const uses = usesTable(level)
  const counted = countedWrites(level)

  /** The positions in a client's list between two bounds. */
  async function positionsIn(
    clientId: string,
    { state, by, direction, limit }: Pick<PageRequest, 'state' | 'by' | 'direction' | 'limit'>,
    { above, below }: Bounds,
  ): Promise<string[]> {
    const list = listOf(clientId, state, by)
    const { gt, lt } = under(list)
    const names = await level.names({
      gt: above === undefined ? gt : row(list, above),
      lt: below === undefined ? lt : row(list, below),
      reverse: direction === 'down',
      limit,
    })
    return names.map((name) => name.slice(list.length + 1))
  }

  return {
    uses,
    folders: { ...folderReads(level), recount: counted.recount },
    search: embeddedSearch(level, originals),
    changes: await embeddedChanges(level),
    /** Reads both entries at one moment. */
    find: async (ref: FileRef, derivative: ObjectKey | undefined) =>
      (await level.get([
        originalRow(ref),
        ...(derivative === undefined ? [] : [derivativeRow(ref, derivative)]),
      ])) as [OriginalEntry?, DerivativeEntry?],
    originals,
    original: async (ref: FileRef) => (await level.get([originalRow(ref)]))[0] as OriginalEntry | undefined,
    derivative: async (ref: FileRef, key: ObjectKey) =>
      (await level.get([derivativeRow(ref, key)]))[0] as DerivativeEntry | undefined,
    async derivatives(ref: FileRef): Promise<Derived[]> {
      const rows = await level.rows(under(derivativeRow(ref, '').slice(0, -1)))
      return rows.map(([name, entry]) => ({
        key: storedKey(name.slice(name.lastIndexOf('\0') + 1)),
        entry: entry as DerivativeEntry,
      }))
    },
    /** Whether an original has fewer than `atMost` derivatives in addition to the uncounted ones. */
    async hasFewer(
      ref: FileRef,
      { atMost: most, uncounted = [] }: { atMost: number; uncounted?: readonly ObjectKey[] },
    ): Promise<boolean> {
      const beginning = derivativeRow(ref, '')
      const atMost = mostDerivatives.get(beginning)
      if (atMost !== undefined && atMost < most) return true
      // Most originals get their first derivative. No row has to be counted then: this process has counted those that it began.
      const mayBeFirst = atMost === undefined && most > 0 && !hasInherited(beginning)
      if (mayBeFirst && (await uses.bytes(ref)).original === 0) {
        mostDerivatives.set(beginning, 0)
        return true
      }
      const others = await level.get(uncounted.map((key) => derivativeRow(ref, key)))
      const count = most + others.filter((entry) => entry !== undefined).length
      const { length } = await level.names({ ...under(beginning.slice(0, -1)), limit: count })
      if (length < count) mostDerivatives.set(beginning, length)
      return length < count
    },
    /** All originals, or those of one client, read page by page. */
    async *refs(clientId: string | undefined): AsyncGenerator<FileRef> {
      const range = under(clientId === undefined ? 'o' : row('o', clientId))
      for (let gt: string | undefined = range.gt; gt !== undefined; ) {
        const names: string[] = await level.names({ ...range, gt, limit: PAGE })
        for (const name of names) {
          const [, client = '', key = ''] = name.split('\0')
          yield { clientId: client, key: storedKey(key) }
        }
        gt = names.length < PAGE ? undefined : names.at(-1)
      }
    },
    /** The originals whose state is neither `stored` nor `trashed`, and the derivatives that are not `stored`. */
    async unsettled(): Promise<Array<{ ref: FileRef; derivative?: ObjectKey }>> {
      const markers = await level.names(under('u'))
      return markers.map((marker) => {
        const [kind, clientId = '', key = '', derivative = ''] = marker.slice(2).split('\0')
        const ref = { clientId, key: storedKey(key) }
        return kind === 'o' ? { ref } : { ref, derivative: storedKey(derivative) }
      })
    },
    filesBetween: filesBetween(level),
    /** A part of a client's list. Omits an original whose state has changed since its row was read. */
    async page(clientId: string, request: PageRequest): Promise<Page> {
      const { state, limit } = request
      const all = await positionsIn(clientId, request, boundsOf(request))
      const matching = placesOf(all, request)
      const entries = await originals(matching.map(({ key }) => ({ clientId, key })))
      const files = entries.flatMap((entry, i) =>
        entry?.state === state ? [listed(entry, matching[i]?.position ?? '')] : [],
      )
      return { files, next: all.length < limit ? undefined : all.at(-1) }
    },
    directKeys: (clientId: string, request: FolderKeysRequest) =>
      readDirectKeys(
        (bounds, limit) => positionsIn(clientId, { ...request, by: 'key', limit }, bounds),
        request,
      ),
    /** Reads all rows, since LevelDB has no counts. A million originals take about 4 s, in steps of a few milliseconds. */
    async totals(clientId: string): Promise<Totals> {
      const totals: Totals = { stored: { files: 0, bytes: 0 }, trashed: { files: 0, bytes: 0 } }
      for (const state of LISTED_STATES) {
        const range = under(listOf(clientId, state, 'key'))
        for (let gt: string | undefined = range.gt; gt !== undefined; ) {
          const rows: Array<[string, unknown]> = await level.rows({ ...range, gt, limit: PAGE })
          totals[state].files += rows.length
          for (const [, size] of rows) totals[state].bytes += Number(size)
          gt = rows.length < PAGE ? undefined : rows.at(-1)?.[0]
        }
      }
      return totals
    },
    /** Trashed originals whose retention is over. */
    async outOfTime(now: number): Promise<FileRef[]> {
      const { gt } = under('x')
      const names = await level.names({ gt, lt: row('x', sortable(now + 1)) })
      return names.map((name) => {
        const [, , clientId = '', key = ''] = name.split('\0')
        return { clientId, key: storedKey(key) }
      })
    },
    dataName: dataName(level),
    replacements: () => level.replacements(),
    isComplete: async () => (await level.get([COMPLETE]))[0] !== undefined,
    isCounted: async () => (await level.get([COUNTED]))[0] !== undefined,
    markComplete: () => level.write([...MARKS, SEARCHABLE_ROW]),
    compared: async () => (await level.get([COMPARED]))[0],
    noteCompared: (run: string) => level.write([{ type: 'put', key: COMPARED, value: run }]),
    /** Whether all lists have an original, and a search finds it. Earlier versions have fewer lists, and no search. */
    isListed: async (ref: FileRef, entry: ListedEntry) =>
      !(await level.get(listing(ref, entry).map(({ key }) => key))).includes(undefined),
    listing,
    /** The rows that set an entry which lists and the search have as before. */
    setEntry: (ref: FileRef, entry: OriginalEntry) => set(originalRow(ref), entry),
    /** The rows that set or delete an original. @param before its current entry, whose list rows are deleted */
    setOriginal: (ref: FileRef, entry: OriginalEntry | undefined, before?: OriginalEntry) => [
      ...set(originalRow(ref), entry),
      ...relisting(ref, before, entry),
    ],
    setDerivative: (ref: FileRef, key: ObjectKey, entry: DerivativeEntry | undefined) =>
      set(derivativeRow(ref, key), entry),
    /** Writes all rows in one atomic step. Options as in `level/resilient-level.ts`. */
    async write(changes: Row[][], options?: WriteOptions): Promise<void> {
      const rows = changes.flat()
      if (rows.length === 0) return
      await counted.write(rows, options)
      for (const { type, key } of rows) {
        inherited.delete(key)
        if (type === 'put') countOneMore(key.slice(0, key.lastIndexOf('\0') + 1))
      }
    },
    isInherited: (ref: FileRef) => isInherited(originalRow(ref)),
    isOver,
    isAhead: (ref: FileRef, derived: Derived, now: number) =>
      derived.entry.state === 'pending' && !isOver(ref, derived, now),
    ping: async () => {
      await level.get(['ping'])
    },
    close: () => level.close(),
  }
}

const COMPLETE = 'complete'
const COUNTED = 'counted'
const COMPARED = 'compared'
const MARKS = [COMPLETE, COUNTED].map((key): Row => ({ type: 'put', key, value: 1 }))
