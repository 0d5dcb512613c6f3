import { isDeepStrictEqual } from 'node:util'
import type { FileRef } from '../../../core/files/file-ref.ts'
import type { FileIndex, IndexedFile, OriginalEntry } from '../../../core/ports/file-index.ts'
import { isSameInBucket } from '../../../core/ports/index/same-record.ts'
import { createInTurn } from '../../in-turn.ts'
import type { ResilientLevelOptions, StorePlace } from '../../level/resilient-level.ts'
import { isPosition } from '../positions.ts'
import { namesIn } from './data-name.ts'
import { derivativeSteps, FREES_ROOM, REMADE } from './derivatives.ts'
import { mayRemove } from './removal-rule.ts'
import { openIndexTable } from './table.ts'

/**
 * The index in a LevelDB folder, which only one process at a time can open. So every lease and deadline found at the start
 * belongs to a dead process and counts as expired.
 *
 * @throws when another process has opened the folder: the error's cause has the `code` LEVEL_LOCKED
 */
export async function embeddedIndex(place: StorePlace, options?: ResilientLevelOptions): Promise<FileIndex> {
  const table = await openIndexTable(place, options)
  const names = namesIn(table)
  const inTurn = createInTurn()
  const alone = <T>({ clientId, key }: FileRef, work: () => Promise<T>) =>
    inTurn([`${clientId}\0${key}`], work)

  /** As `alone`, for a step that also changes the client's sums of derivatives. */
  const aloneWithSums = <T>({ clientId, key }: FileRef, work: () => Promise<T>) =>
    inTurn([`${clientId}\0${key}`, `${clientId}\0`], work)

  async function isOverdue(ref: FileRef, entry: OriginalEntry, now: number): Promise<boolean> {
    if (entry.state === 'stored') return false
    if (entry.state === 'trashed') return entry.trash.until <= now
    if (entry.state !== 'gone') return table.isInherited(ref) || entry.leaseUntil <= now
    return (await table.derivatives(ref)).every((one) => !table.isAhead(ref, one, now))
  }

  async function enlisted(ref: FileRef): Promise<OriginalEntry | undefined> {
    const known = await table.original(ref)
    const isOfList = known?.state === 'stored' || known?.state === 'trashed'
    if (isOfList && !(await table.isListed(ref, known))) await table.write([table.listing(ref, known)])
    return known
  }

  const look = (ref: FileRef): Promise<IndexedFile | undefined> =>
    alone(ref, async () => {
      const original = await table.original(ref)
      return original && { ref, original, derivatives: await table.derivatives(ref) }
    })

  return {
    async find(ref, derivative) {
      const [original, derived] = await table.find(ref, derivative)
      return { ...(original ? { original } : {}), ...(derived ? { derivative: derived } : {}) }
    },

    beginUpload: (ref, leaseUntil) =>
      alone(ref, async () => {
        if (await table.original(ref)) throw new Error(`${ref.key} is already in the index`)
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

    finishUpload: (clientId, records, recordTags) =>
      inTurn(
        records.map(({ key }) => `${clientId}\0${key}`),
        async () => {
          const entries = await table.originals(records.map(({ key }) => ({ clientId, key })))
          if (entries.some((entry) => entry?.state !== 'pending' && entry?.state !== 'stored')) return false
          await table.write(
            records
              .filter((_, i) => entries[i]?.state === 'pending')
              .map((record) =>
                table.setOriginal(
                  { clientId, key: record.key },
                  { state: 'stored', record, ...tagged(recordTags?.get(record.key)) },
                ),
              ),
          )
          return true
        },
      ),

    adopt: (clientId, record, trash, recordTag) => {
      const ref = { clientId, key: record.key }
      return alone(ref, async () => {
        const known = await enlisted(ref)
        if (known) return known
        const adopted = { record, ...tagged(recordTag) }
        const entry: OriginalEntry = trash
          ? { state: 'trashed', ...adopted, trash }
          : { state: 'stored', ...adopted }
        await table.write([table.setOriginal(ref, entry)])
        return entry
      })
    },

    async enlist(clientId, { key }) {
      await alone({ clientId, key }, () => enlisted({ clientId, key }))
    },

    amend: (clientId, record, amended, recordTag) => {
      const ref = { clientId, key: record.key }
      return alone(ref, async () => {
        const known = await table.original(ref)
        if (known?.state !== 'stored' || !isDeepStrictEqual(known.record, record)) return false
        const tag = recordTag ?? (isSameInBucket(record, amended) ? known.recordTag : undefined)
        const entry: OriginalEntry = { state: 'stored', record: amended, ...tagged(tag) }
        await table.write([table.setOriginal(ref, entry, known)])
        return true
      })
    },

    noteRecordTag: (clientId, entry, recordTag) => {
      if (!('record' in entry)) return Promise.resolve(false)
      const ref = { clientId, key: entry.record.key }
      return alone(ref, async () => {
        const known = await table.original(ref)
        const isSame = known && isDeepStrictEqual({ ...known, recordTag }, { ...entry, recordTag })
        // Without the tag, the next comparison reads the record again.
        if (isSame) await table.write([table.setEntry(ref, { ...entry, recordTag })], REMADE)
        return isSame ?? false
      })
    },

    trash: (ref, trash) =>
      alone(ref, async () => {
        const known = await table.original(ref)
        if (known?.state !== 'stored') return undefined
        const derivatives = await table.derivatives(ref)
        await table.write(
          [table.setOriginal(ref, { state: 'trashed', record: known.record, trash }, known)],
          FREES_ROOM,
        )
        return derivatives.map(({ key }) => key)
      }),

    restore: (ref, now) =>
      alone(ref, async () => {
        const known = await table.original(ref)
        if (known?.state !== 'trashed' || known.trash.until <= now) return false
        await table.write([table.setOriginal(ref, { state: 'stored', record: known.record }, known)])
        return true
      }),

    beginRemoval: (ref, { cause, leaseUntil, now }) =>
      alone(ref, async () => {
        const entry = await table.original(ref)
        const derivatives = await table.derivatives(ref)
        const over = (until: number) => table.isInherited(ref) || until <= now
        if (
          !entry ||
          !mayRemove(entry, {
            cause,
            over,
            now,
            busy: derivatives.some((one) => table.isAhead(ref, one, now)),
          })
        ) {
          return undefined
        }
        await table.write([table.setOriginal(ref, { state: 'going', leaseUntil }, entry)], FREES_ROOM)
        return derivatives.map(({ key }) => key)
      }),

    finishRemoval: (ref, now) =>
      aloneWithSums(ref, async () => {
        if ((await table.original(ref))?.state !== 'going') return false
        const derivatives = await table.derivatives(ref)
        const ahead = derivatives.filter((one) => table.isAhead(ref, one, now))
        await table.write(
          [
            await table.uses.change(ref, derivatives),
            table.setOriginal(ref, ahead.length > 0 ? { state: 'gone' } : undefined),
            ...derivatives
              .filter((one) => !ahead.includes(one))
              .map(({ key }) => table.setDerivative(ref, key, undefined)),
          ],
          FREES_ROOM,
        )
        return true
      }),

    ...derivativeSteps(table, { alone, aloneWithSums }),
    ...table.changes,
    ...table.folders,
    ...table.search,

    look,
    async *list(clientId) {
      for await (const ref of table.refs(clientId)) {
        const file = await look(ref)
        if (file) yield file
      }
    },

    filesBetween: (clientId, range) => table.filesBetween(clientId, range),
    page: (clientId, request) => table.page(clientId, request),
    isPosition,
    directKeys: (clientId, request) => table.directKeys(clientId, request),
    totals: (clientId) => table.totals(clientId),
    isComplete: () => table.isComplete(),
    isCounted: () => table.isCounted(),
    isWhole: async () =>
      (await table.isComplete()) && (await table.isCounted()) && (await table.search.canSearch()),
    async markComplete(name) {
      const { id, data } = await names()
      if (name === undefined || name === id || name === data) await table.markComplete()
    },
    async run() {
      const { id, data } = await names()
      return { id, data, isCompared: id !== undefined && id === (await table.compared()) }
    },
    noteCompared: (run) => table.noteCompared(run),

    async *overdue(now) {
      for (const ref of await table.outOfTime(now)) yield { kind: 'original', ref }
      for (const { ref, derivative } of await table.unsettled()) {
        const original = await table.original(ref)
        if (derivative === undefined) {
          if (original && (await isOverdue(ref, original, now))) yield { kind: 'original', ref }
          continue
        }
        const entry = await table.derivative(ref, derivative)
        // The derivatives of an original in another state are deleted with it.
        const isByItself = !original || original.state === 'stored' || original.state === 'trashed'
        if (isByItself && entry?.state === 'pending' && table.isOver(ref, { key: derivative, entry }, now)) {
          yield { kind: 'derivative', ref, derivative, deadline: entry.deadline }
        }
      }
    },

    async removeFormer() {},
    tidy: async () => 0,
    ping: () => table.ping(),
    close: () => table.close(),
  }
}

function tagged(recordTag: string | undefined): { recordTag?: string } {
  return recordTag === undefined ? {} : { recordTag }
}
