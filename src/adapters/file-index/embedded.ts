import { type ObjectKey, storedKey } from '../../core/object-key.ts'
import type {
  DerivativeEntry,
  FileIndex,
  FileRef,
  OriginalEntry,
  RemovalCause,
} from '../../core/ports/file-index.ts'
import { createInTurn } from '../in-turn.ts'
import { lastingLevel, type Row } from '../lasting-level.ts'

// Of a listing, read at a time: some 100 kB of names.
const PAGE = 1000

/**
 * The index in a LevelDB folder, which belongs to one process at a time. So every lease and deadline
 * found at the start belongs to a dead process and counts as over.
 *
 * @throws when another process has the folder open: the error's cause has the `code` LEVEL_LOCKED
 */
export async function embeddedIndex(folder: string): Promise<FileIndex> {
  const table = await openTable(folder)
  const inTurn = createInTurn()
  const alone = <T>({ clientId, key }: FileRef, work: () => Promise<T>) =>
    inTurn([`${clientId}\0${key}`], work)

  async function isOverdue(ref: FileRef, entry: OriginalEntry, now: number): Promise<boolean> {
    if (entry.state === 'stored') return false
    if (entry.state !== 'gone') return table.isInherited(ref) || entry.leaseUntil <= now
    return (await table.derivatives(ref)).every((one) => !table.isAhead(ref, one, now))
  }

  return {
    async find(ref, derivative) {
      const [original, derived] = await table.find(ref, derivative)
      return { ...(original ? { original } : {}), ...(derived ? { derivative: derived } : {}) }
    },

    beginUpload: (ref, leaseUntil) =>
      alone(ref, async () => {
        if (await table.original(ref)) throw new Error(`the index knows ${ref.key} already`)
        await table.write([table.setOriginal(ref, { state: 'pending', leaseUntil })])
      }),

    renewUpload: (refs, leaseUntil) =>
      inTurn(
        refs.map(({ clientId, key }) => `${clientId}\0${key}`),
        async () => {
          const entries = await table.originals(refs)
          const pending = refs.filter((_, i) => entries[i]?.state === 'pending')
          await table.write(pending.map((ref) => table.setOriginal(ref, { state: 'pending', leaseUntil })))
        },
      ),

    finishUpload: (clientId, records) =>
      inTurn(
        records.map(({ key }) => `${clientId}\0${key}`),
        async () => {
          const entries = await table.originals(records.map(({ key }) => ({ clientId, key })))
          if (entries.some((entry) => entry?.state !== 'pending' && entry?.state !== 'stored')) return false
          await table.write(
            records
              .filter((_, i) => entries[i]?.state === 'pending')
              .map((record) => table.setOriginal({ clientId, key: record.key }, { state: 'stored', record })),
          )
          return true
        },
      ),

    adopt: (clientId, record) => {
      const ref = { clientId, key: record.key }
      return alone(ref, async () => {
        const known = await table.original(ref)
        if (known) return known
        await table.write([table.setOriginal(ref, { state: 'stored', record })])
        return { state: 'stored', record }
      })
    },

    beginDerivative: (ref, derivative, deadline) =>
      alone(ref, async () => {
        if ((await table.original(ref))?.state !== 'stored') return false
        await table.write([table.setDerivative(ref, derivative, { state: 'pending', deadline })])
        return true
      }),

    finishDerivative: (ref, record) =>
      alone(ref, async () => {
        if ((await table.original(ref))?.state !== 'stored') return false
        await table.write([table.setDerivative(ref, record.key, { state: 'stored', record })])
        return true
      }),

    adoptDerivative: (ref, record) =>
      alone(ref, async () => {
        if ((await table.original(ref))?.state !== 'stored') return undefined
        const known = await table.derivative(ref, record.key)
        if (known) return known
        await table.write([table.setDerivative(ref, record.key, { state: 'stored', record })])
        return { state: 'stored', record }
      }),

    dropDerivative: (ref, derivative, deadline) =>
      alone(ref, async () => {
        const entry = await table.derivative(ref, derivative)
        if (entry?.state !== 'pending' || entry.deadline > deadline) return
        const drop = [table.setDerivative(ref, derivative, undefined)]
        if ((await table.original(ref))?.state === 'gone') {
          const others = await table.derivatives(ref)
          if (others.every(({ key }) => key === derivative)) drop.push(table.setOriginal(ref, undefined))
        }
        await table.write(drop)
      }),

    beginRemoval: (ref, { cause, leaseUntil, now }) =>
      alone(ref, async () => {
        const entry = await table.original(ref)
        const derivatives = await table.derivatives(ref)
        const over = (until: number) => table.isInherited(ref) || until <= now
        if (
          !entry ||
          !mayGo(entry, { cause, over, busy: derivatives.some((one) => table.isAhead(ref, one, now)) })
        ) {
          return undefined
        }
        await table.write([table.setOriginal(ref, { state: 'going', leaseUntil })])
        return derivatives.map(({ key }) => key)
      }),

    finishRemoval: (ref, now) =>
      alone(ref, async () => {
        if ((await table.original(ref))?.state !== 'going') return false
        const derivatives = await table.derivatives(ref)
        const ahead = derivatives.filter((one) => table.isAhead(ref, one, now))
        await table.write([
          table.setOriginal(ref, ahead.length > 0 ? { state: 'gone' } : undefined),
          ...derivatives
            .filter((one) => !ahead.includes(one))
            .map(({ key }) => table.setDerivative(ref, key, undefined)),
        ])
        return true
      }),

    async *list(clientId) {
      for await (const ref of table.refs(clientId)) {
        const file = await alone(ref, async () => ({
          original: await table.original(ref),
          derivatives: await table.derivatives(ref),
        }))
        if (file.original) yield { ref, original: file.original, derivatives: file.derivatives }
      }
    },

    async *overdue(now) {
      for (const { ref, derivative } of await table.unsettled()) {
        const original = await table.original(ref)
        if (derivative === undefined) {
          if (original && (await isOverdue(ref, original, now))) yield { kind: 'original', ref }
          continue
        }
        const entry = await table.derivative(ref, derivative)
        // Those of an original on its way out go with it.
        const alone = !original || original.state === 'stored'
        if (alone && entry?.state === 'pending' && table.isOver(ref, { key: derivative, entry }, now)) {
          yield { kind: 'derivative', ref, derivative, deadline: entry.deadline }
        }
      }
    },

    ping: () => table.ping(),
    close: () => table.close(),
  }
}

/** Whether an original in this state may be removed for this cause; `busy`: a deadline of a derivative lies ahead. */
function mayGo(
  entry: OriginalEntry,
  { cause, over, busy }: { cause: RemovalCause; over: (until: number) => boolean; busy: boolean },
): boolean {
  switch (cause) {
    case 'delete':
      return entry.state === 'stored' || entry.state === 'going'
    case 'abandon':
      return entry.state === 'pending'
    case 'sweep':
      if (entry.state === 'gone') return !busy
      return entry.state !== 'stored' && over(entry.leaseUntil)
  }
}

type Entry = OriginalEntry | DerivativeEntry
interface Derived {
  key: ObjectKey
  entry: DerivativeEntry
}

/**
 * The rows: `o client original` and `d client original derivative`, and for each that is not settled an empty
 * `u` + row beside it, so that a sweep need not read the whole index. NUL parts the fields: no key holds one.
 */
async function openTable(folder: string) {
  const level = await lastingLevel(folder)
  // Rows that an earlier process left unsettled and that this one has not written since.
  const inherited = new Set<string>()
  for (const marker of await level.names(under('u'))) inherited.add(marker.slice(2))

  const originalRow = ({ clientId, key }: FileRef) => row('o', clientId, key)
  const derivativeRow = ({ clientId, key }: FileRef, derivative: string) =>
    row('d', clientId, key, derivative)
  const set = (name: string, entry: Entry | undefined): Row[] => [
    entry ? { type: 'put', key: name, value: entry } : { type: 'del', key: name },
    entry && entry.state !== 'stored'
      ? { type: 'put', key: row('u', name), value: 0 }
      : { type: 'del', key: row('u', name) },
  ]
  const isInherited = (name: string) => inherited.has(name)
  const isOver = (ref: FileRef, { key, entry }: Derived, now: number) =>
    entry.state === 'pending' && (isInherited(derivativeRow(ref, key)) || entry.deadline <= now)

  return {
    /** Both as they are at one moment. */
    find: async (ref: FileRef, derivative: ObjectKey | undefined) =>
      (await level.get([
        originalRow(ref),
        ...(derivative === undefined ? [] : [derivativeRow(ref, derivative)]),
      ])) as [OriginalEntry?, DerivativeEntry?],
    originals: async (refs: readonly FileRef[]) =>
      (await level.get(refs.map(originalRow))) as Array<OriginalEntry | undefined>,
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
    /** All originals, or one client's, read page by page. */
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
    /** The originals, and the derivatives, whose state is not `stored`. */
    async unsettled(): Promise<Array<{ ref: FileRef; derivative?: ObjectKey }>> {
      const markers = await level.names(under('u'))
      return markers.map((marker) => {
        const [kind, clientId = '', key = '', derivative = ''] = marker.slice(2).split('\0')
        const ref = { clientId, key: storedKey(key) }
        return kind === 'o' ? { ref } : { ref, derivative: storedKey(derivative) }
      })
    },
    setOriginal: (ref: FileRef, entry: OriginalEntry | undefined) => set(originalRow(ref), entry),
    setDerivative: (ref: FileRef, key: ObjectKey, entry: DerivativeEntry | undefined) =>
      set(derivativeRow(ref, key), entry),
    /** All in one step, on the disk when it resolves. */
    async write(changes: Row[][]): Promise<void> {
      const rows = changes.flat()
      if (rows.length === 0) return
      await level.write(rows)
      for (const { key } of rows) inherited.delete(key)
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

function row(...fields: string[]): string {
  return fields.join('\0')
}

/** The range of all rows whose first fields these are. */
function under(fields: string): { gt: string; lt: string } {
  return { gt: `${fields}\0`, lt: `${fields}\x01` }
}
