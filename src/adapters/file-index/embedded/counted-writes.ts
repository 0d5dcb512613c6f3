import { isDeepStrictEqual } from 'node:util'
import { type Deferred, deferred } from '../../../core/async/deferred.ts'
import type { FolderCount, FolderCounts } from '../../../core/ports/index/folder-counts.ts'
import type { ListedState } from '../../../core/ports/index/listed-state.ts'
import { byBytes } from '../../../core/text/byte-order.ts'
import { createInTurn } from '../../in-turn.ts'
import type { ResilientLevel, Row, WriteOptions } from '../../level/resilient-level.ts'
import { LISTED_STATES } from '../positions.ts'
import { row, under } from '../rows.ts'
import { addedRows, addTo, type Counts, countRows, folderOfRow, type ListChange } from './folders.ts'

// Names read at a time: about 100 kB.
const PAGE = 1000

interface Waiting {
  rows: Row[]
  options: WriteOptions
  done: Deferred<void>
}

/**
 * The progress of a recount. `counts` has the originals up to these positions and follows their changes; `all` after the
 * last position.
 */
interface Recount {
  upTo: Partial<Record<ListedState, { position: string } | 'all'>>
  counts: Counts
}

/**
 * Writes rows together with the counters of folders, in one batch. Counters of one folder belong to many originals, so these
 * writes run one after the other. Those that wait form one batch, so many uploads at a time share one flush to the disk.
 */
export function countedWrites(level: ResilientLevel) {
  let waiting: Waiting[] = []
  let isRunning = false
  const recounts = new Map<string, Recount>()
  const inTurn = createInTurn()
  // A recount reads its pages between the batches.
  const between: Array<() => Promise<void>> = []

  async function run(): Promise<void> {
    if (isRunning) return
    isRunning = true
    for (;;) {
      const work = between.shift()
      if (work) await work()
      const first = waiting[0]
      if (!first && !work) break
      if (!first) continue
      // A delete may use the reserve of the disk, an upload must not.
      const { freesRoom } = first.options
      const group = waiting.filter(({ options }) => options.freesRoom === freesRoom)
      waiting = waiting.filter((one) => !group.includes(one))
      await writeGroup(group, first.options)
    }
    isRunning = false
  }

  async function writeGroup(group: readonly Waiting[], options: WriteOptions): Promise<void> {
    try {
      const rows = group.flatMap((one) => one.rows)
      const changes = await listChanges(level, rows)
      const sums: Counts = new Map()
      addTo(sums, changes)
      await level.write([...rows, ...(await addedRows(level, sums))], options)
      for (const [clientId, { upTo, counts }] of recounts)
        addTo(
          counts,
          changes.filter((one) => one.clientId === clientId && isCounted(upTo[one.state], one.position)),
        )
      for (const { done } of group) done.resolve()
    } catch (error) {
      for (const { done } of group) done.reject(error)
    }
  }

  /** Runs work between two batches. */
  async function alone<T>(work: () => Promise<T>): Promise<T> {
    const done = deferred<T>()
    between.push(() => work().then(done.resolve, done.reject))
    void run()
    return done.promise
  }

  async function countAll(clientId: string, state: ListedState, recount: Recount, signal?: AbortSignal) {
    const list = row('l', clientId, state, 'key')
    const { lt } = under(list)
    for (let gt = under(list).gt, isLast = false; !isLast; ) {
      signal?.throwIfAborted()
      await alone(async () => {
        const rows = await level.rows({ gt, lt, limit: PAGE })
        isLast = rows.length < PAGE
        addTo(
          recount.counts,
          rows.map(([name, size]) => ({
            clientId,
            state,
            position: name.slice(list.length + 1),
            before: undefined,
            after: Number(size),
          })),
        )
        gt = rows.at(-1)?.[0] ?? gt
        recount.upTo[state] = isLast ? 'all' : { position: gt.slice(list.length + 1) }
      })
    }
  }

  const recount: FolderCounts['recount'] = (clientId, { repair, signal }) =>
    inTurn([clientId], async () => {
      const progress: Recount = { upTo: {}, counts: new Map() }
      recounts.set(clientId, progress)
      try {
        for (const state of LISTED_STATES) await countAll(clientId, state, progress, signal)
        return await alone(async () => {
          const wrong = await differences(level, clientId, progress.counts)
          if (repair) await level.write(countRows(wrong))
          return [...wrong.keys()].map(folderOfRow)
        })
      } finally {
        recounts.delete(clientId)
      }
    })

  return {
    recount,
    /** Writes all rows in one atomic step, which may have those of other calls too. */
    write(rows: Row[], options: WriteOptions = {}): Promise<void> {
      if (!rows.some(({ key }) => inList(key))) return level.write(rows, options)
      const done = deferred<void>()
      waiting.push({ rows, options, done })
      void run()
      return done.promise
    },
  }
}

function isCounted(upTo: Recount['upTo'][ListedState], position: string): boolean {
  return upTo === 'all' || (upTo !== undefined && byBytes(upTo.position, position) >= 0)
}

/** The part of a list by key that a row is; undefined for any other row. */
function inList(name: string): Pick<ListChange, 'clientId' | 'state' | 'position'> | undefined {
  if (!name.startsWith('l\0')) return undefined
  const [, clientId = '', state, by, position = ''] = name.split('\0')
  return by === 'key' ? { clientId, state: state as ListedState, position } : undefined
}

/** How the rows change the lists by key. A later row of the same name replaces an earlier one. */
async function listChanges(level: ResilientLevel, rows: readonly Row[]): Promise<ListChange[]> {
  const last = new Map<string, number | undefined>()
  for (const one of rows)
    if (inList(one.key)) last.set(one.key, one.type === 'put' ? Number(one.value) : undefined)
  const names = [...last.keys()]
  const known = await level.get(names)
  return names.flatMap((name, i) => {
    const part = inList(name)
    const before = known[i] === undefined ? undefined : Number(known[i])
    return part ? [{ ...part, before, after: last.get(name) }] : []
  })
}

/** The counters that differ from `counts`, with their correct values. */
async function differences(level: ResilientLevel, clientId: string, counts: Counts): Promise<Counts> {
  const stored = new Map(await level.rows(under(row('f', clientId)))) as Counts
  const wrong: Counts = new Map()
  const nothing: FolderCount = { files: 0, bytes: 0, directFiles: 0 }
  for (const name of new Set([...stored.keys(), ...counts.keys()])) {
    const correct = counts.get(name) ?? nothing
    if (correct.files === 0 ? stored.has(name) : !isDeepStrictEqual(stored.get(name), correct))
      wrong.set(name, correct)
  }
  return wrong
}
