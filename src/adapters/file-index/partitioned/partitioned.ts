import { PARTITIONS } from '../../../core/files/partition.ts'
import type { FileIndex, OriginalRecord } from '../../../core/ports/file-index.ts'
import type { IndexRun } from '../../../core/ports/index/index-run.ts'
import type { RecordChanges } from '../../../core/ports/index/record-changes.ts'
import { partitionedLists } from './lists.ts'
import { groupedBy, type Partitions, partitionsOf } from './partitions.ts'

// As many as one partition returns.
const CHANGES_MAX = 1000

/**
 * An index over {@link PARTITIONS} partitions, each of which is an index of its own, on one node of a cluster. The partition of a file
 * follows from its client and its id: a step touches one partition. Lists are merged from the partitions of the client.
 *
 * @param options.perClient among how many partitions the files of a client are divided, from 1 to {@link PARTITIONS}. It must not change
 *   while the index has files of the client
 */
export function partitionedIndex(
  all: readonly FileIndex[],
  options: { perClient(clientId: string): Promise<number>; list: FileIndex['list'] },
): FileIndex {
  if (all.length !== PARTITIONS) throw new Error(`expected ${PARTITIONS} partitions, received ${all.length}`)
  const partitions = partitionsOf(all, options)
  const { ofClient, ofFile } = partitions
  const each = <T>(ask: (index: FileIndex) => Promise<T>) => Promise.all(all.map(ask))
  /** Whether it is true for all partitions, or for those of a client. */
  const every = async (ask: (index: FileIndex) => Promise<boolean>, clientId?: string) => {
    const asked = clientId === undefined ? all : await ofClient(clientId)
    return (await Promise.all(asked.map(ask))).every(Boolean)
  }
  const ofRecord = (clientId: string, { key }: OriginalRecord) => ofFile({ clientId, key })

  return {
    ...partitionedLists(partitions),
    ...changesOf(partitions),
    list: options.list,

    find: async (ref, derivative) => (await ofFile(ref)).find(ref, derivative),
    look: async (ref) => (await ofFile(ref)).look(ref),

    beginUpload: async (ref, leaseUntil) => (await ofFile(ref)).beginUpload(ref, leaseUntil),
    async renewUpload(refs, leaseUntil) {
      const groups = await groupedBy(refs, ofFile)
      await Promise.all([...groups].map(([index, some]) => index.renewUpload(some, leaseUntil)))
    },
    async finishUpload(clientId, records, recordTags) {
      const groups = await groupedBy(records, (record) => ofRecord(clientId, record))
      if (groups.size > 1)
        throw new Error(`expected files of one partition, received files of ${groups.size}`)
      const [index] = groups.keys()
      return index?.finishUpload(clientId, records, recordTags) ?? true
    },
    adopt: async (clientId, record, ...more) =>
      (await ofRecord(clientId, record)).adopt(clientId, record, ...more),
    enlist: async (clientId, record) => (await ofRecord(clientId, record)).enlist(clientId, record),
    amend: async (clientId, record, ...more) =>
      (await ofRecord(clientId, record)).amend(clientId, record, ...more),
    noteRecordTag: async (clientId, entry, recordTag) =>
      'record' in entry && (await ofRecord(clientId, entry.record)).noteRecordTag(clientId, entry, recordTag),
    trash: async (ref, trash) => (await ofFile(ref)).trash(ref, trash),
    restore: async (ref, now) => (await ofFile(ref)).restore(ref, now),
    beginRemoval: async (ref, removal) => (await ofFile(ref)).beginRemoval(ref, removal),
    finishRemoval: async (ref, now) => (await ofFile(ref)).finishRemoval(ref, now),

    beginDerivative: async (ref, ...more) => (await ofFile(ref)).beginDerivative(ref, ...more),
    finishDerivative: async (ref, ...more) => (await ofFile(ref)).finishDerivative(ref, ...more),
    adoptDerivative: async (ref, ...more) => (await ofFile(ref)).adoptDerivative(ref, ...more),
    amendDerivative: async (ref, ...more) => (await ofFile(ref)).amendDerivative(ref, ...more),
    dropDerivative: async (ref, ...more) => (await ofFile(ref)).dropDerivative(ref, ...more),
    noteUse: async (ref, ...more) => (await ofFile(ref)).noteUse(ref, ...more),
    beginEviction: async (ref, ...more) => (await ofFile(ref)).beginEviction(ref, ...more),
    countDerivatives: async (ref) => (await ofFile(ref)).countDerivatives(ref),

    isComplete: (clientId) => every((index) => index.isComplete(), clientId),
    isCounted: (clientId) => every((index) => index.isCounted(), clientId),
    canSearch: (clientId) => every((index) => index.canSearch(clientId), clientId),
    async markComplete(run) {
      const ids = run === undefined ? [] : idsIn(run)
      await Promise.all(all.map((index, i) => index.markComplete(ids[i])))
    },
    isWhole: async (ref) => (ref ? (await ofFile(ref)).isWhole() : every((index) => index.isWhole())),
    async run(ref) {
      if (ref) return (await ofFile(ref)).run()
      return jointRun(await each((index) => index.run()))
    },
    async noteCompared(run) {
      const ids = idsIn(run)
      await Promise.all(all.map((index, i) => index.noteCompared(ids[i] ?? '')))
    },
    /** A partition that is unavailable does not hide the others. */
    async *overdue(now) {
      const errors: unknown[] = []
      for (const index of all) {
        try {
          yield* index.overdue(now)
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length > 0) throw errors[0]
    },
    /** Partitions that are unavailable are claimed by `upgrade`. */
    async claimLayout() {
      await eachInTurn(all.map((index) => () => index.claimLayout()))
    },
    async upgrade(signal, clientIds) {
      const ids = new Map(all.map((index) => [index, [] as string[]]))
      await eachInTurn([
        ...clientIds.map((id) => async () => {
          for (const index of await ofClient(id)) ids.get(index)?.push(id)
        }),
        ...[...ids].map(
          ([index, some]) =>
            () =>
              index.upgrade(signal, some),
        ),
      ])
    },
    /** Begins with another partition each time, so that all have their turn. */
    async tidy({ signal, most }) {
      const first = Math.floor(Math.random() * all.length)
      let left = most
      await eachInTurn(
        [...all.slice(first), ...all.slice(0, first)].map((index) => async () => {
          if (left > 0) left -= await index.tidy({ signal, most: left })
        }),
      )
      return most - left
    },
    async ping() {
      await each((index) => index.ping())
    },
    async close() {
      await each((index) => index.close())
    },
  }
}

/** Does all of this, then throws the first error: a partition that is unavailable does not stop the others. */
async function eachInTurn(works: ReadonlyArray<() => Promise<void>>): Promise<void> {
  const errors: unknown[] = []
  for (const work of works) await work().catch((error) => errors.push(error))
  if (errors.length > 0) throw errors[0]
}

function changesOf({ all, ofFile }: Partitions): RecordChanges {
  return {
    beginChange: async (change) => (await ofFile(change.ref)).beginChange(change),
    endChange: async (change) => (await ofFile(change.ref)).endChange(change),
    async overdueChanges(now) {
      const outcomes = await Promise.allSettled(all.map((index) => index.overdueChanges(now)))
      const changes = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []))
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      // One that is unavailable does not hide the others.
      if (changes.length === 0 && failed) throw failed.reason
      return changes.sort((one, other) => one.until - other.until).slice(0, CHANGES_MAX)
    },
  }
}

/** The runs of the partitions, of {@link jointRun}. */
function idsIn(run: string): string[] {
  return JSON.parse(run)
}

/** The run of all partitions: the next one begins as soon as that of one partition does. */
function jointRun(runs: readonly IndexRun[]): IndexRun {
  const isNamed = runs.every(({ id }) => id !== undefined)
  return {
    id: isNamed ? JSON.stringify(runs.map(({ id }) => id)) : undefined,
    data: JSON.stringify(runs.map(({ data }) => data)),
    isCompared: runs.every(({ isCompared }) => isCompared),
  }
}
