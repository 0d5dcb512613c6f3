import type { FileRef } from '../../../core/files/file-ref.ts'
import { PARTITIONS, partitionHashOfKey } from '../../../core/files/partition.ts'
import type { FileIndex, OriginalRecord } from '../../../core/ports/file-index.ts'
import type { IndexRun } from '../../../core/ports/index/index-run.ts'
import type { RecordChanges } from '../../../core/ports/index/record-changes.ts'
import { partitionedLists } from './lists.ts'
import { askEach, type Partitions, type PartitionsOptions, partitionsOf } from './partitions.ts'

// As many as one partition returns.
const CHANGES_MAX = 1000

export interface PartitionedOptions extends PartitionsOptions {
  list: FileIndex['list']
  removeFormer: FileIndex['removeFormer']
  /**
   * Removes a file from a partition that it does not belong to.
   * @returns false, and does nothing, when it belongs there, or when its partitions cannot be found out. True: it is no work of a sweep
   */
  dropStray(ref: FileRef, number: number): Promise<boolean>
}

/**
 * An index over {@link PARTITIONS} partitions, each of which is an index of its own, on one node of a cluster. The partition of a file
 * follows from its client and its id: a step touches one partition. Lists are merged from the partitions of the client.
 */
export function partitionedIndex(all: readonly FileIndex[], options: PartitionedOptions): FileIndex {
  if (all.length !== PARTITIONS) throw new Error(`expected ${PARTITIONS} partitions, received ${all.length}`)
  const partitions = partitionsOf(all, options)
  const { ofClient, find, change } = partitions
  const each = <T>(ask: (index: FileIndex) => Promise<T>) => Promise.all(all.map(ask))
  /** Whether it is true for all partitions, or for those of a client. */
  const every = async (ask: (index: FileIndex) => Promise<boolean>, clientId?: string) => {
    const asked = clientId === undefined ? { leaving: [], remaining: all } : await ofClient(clientId)
    return (await askEach(asked, ask)).every(Boolean)
  }
  const changeRecord = <T>(
    clientId: string,
    { key }: OriginalRecord,
    act: (index: FileIndex) => Promise<T>,
  ) => change([{ clientId, key }], act)
  const placesOf = async ({ clientId, key }: FileRef) => (await ofClient(clientId)).placesOf(key)
  /** All, from another one on each time: so all have their turn, and sweeps of several processes differ. */
  const rotated = () => {
    const first = Math.floor(Math.random() * all.length)
    const numbered = [...all.entries()]
    return [...numbered.slice(first), ...numbered.slice(0, first)]
  }

  return {
    ...partitionedLists(partitions),
    ...changesOf(partitions),
    list: options.list,

    async find(ref, derivative) {
      const found = await find(ref, async (index) => {
        const found = await index.find(ref, derivative)
        return found.original && found
      })
      return found ?? {}
    },
    look: (ref) => find(ref, (index) => index.look(ref)),

    beginUpload: (ref, leaseUntil) => change([ref], (index) => index.beginUpload(ref, leaseUntil)),
    async renewUpload(refs, leaseUntil) {
      await Promise.all(
        togetherAlways(refs).map((some) => change(some, (index) => index.renewUpload(some, leaseUntil))),
      )
    },
    async finishUpload(clientId, records, recordTags) {
      const [first, ...others] = records.map(({ key }) => ({ clientId, key }))
      if (!first) return true
      return change([first, ...others], (index) => index.finishUpload(clientId, records, recordTags))
    },
    adopt: (clientId, record, ...more) =>
      changeRecord(clientId, record, (index) => index.adopt(clientId, record, ...more)),
    enlist: (clientId, record) => changeRecord(clientId, record, (index) => index.enlist(clientId, record)),
    amend: (clientId, record, ...more) =>
      changeRecord(clientId, record, (index) => index.amend(clientId, record, ...more)),
    noteRecordTag: async (clientId, entry, tag) =>
      'record' in entry &&
      changeRecord(clientId, entry.record, (index) => index.noteRecordTag(clientId, entry, tag)),
    trash: (ref, ...more) => change([ref], (index) => index.trash(ref, ...more)),
    restore: (ref, ...more) => change([ref], (index) => index.restore(ref, ...more)),
    beginRemoval: (ref, ...more) => change([ref], (index) => index.beginRemoval(ref, ...more)),
    finishRemoval: (ref, ...more) => change([ref], (index) => index.finishRemoval(ref, ...more)),

    beginDerivative: (ref, ...more) => change([ref], (index) => index.beginDerivative(ref, ...more)),
    finishDerivative: (ref, ...more) => change([ref], (index) => index.finishDerivative(ref, ...more)),
    adoptDerivative: (ref, ...more) => change([ref], (index) => index.adoptDerivative(ref, ...more)),
    amendDerivative: (ref, ...more) => change([ref], (index) => index.amendDerivative(ref, ...more)),
    dropDerivative: (ref, ...more) => change([ref], (index) => index.dropDerivative(ref, ...more)),
    noteUse: (ref, ...more) => change([ref], (index) => index.noteUse(ref, ...more)),
    beginEviction: (ref, ...more) => change([ref], (index) => index.beginEviction(ref, ...more)),
    countDerivatives: (ref, ...more) => change([ref], (index) => index.countDerivatives(ref, ...more)),

    isComplete: (clientId) => every((index) => index.isComplete(), clientId),
    isCounted: (clientId) => every((index) => index.isCounted(), clientId),
    canSearch: (clientId) => every((index) => index.canSearch(clientId), clientId),
    async markComplete(run) {
      const ids = run === undefined ? [] : idsIn(run)
      await Promise.all(all.map((index, i) => index.markComplete(ids[i])))
    },
    async isWhole(ref) {
      const asked = ref ? await placesOf(ref) : all
      return (await Promise.all(asked.map((index) => index.isWhole()))).every(Boolean)
    },
    async run(ref) {
      if (!ref) return jointRun(await each((index) => index.run()))
      const runs = await Promise.all((await placesOf(ref)).map((index) => index.run()))
      return runs.length === 1 ? (runs[0] as IndexRun) : jointRun(runs)
    },
    async noteCompared(run) {
      const ids = idsIn(run)
      await Promise.all(all.map((index, i) => index.noteCompared(ids[i] ?? '')))
    },
    /** A partition that is unavailable does not hide the others. */
    async *overdue(now) {
      const errors: unknown[] = []
      for (const [number, index] of rotated()) {
        try {
          for await (const item of index.overdue(now))
            if (!(await options.dropStray(item.ref, number))) yield item
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length > 0) throw errors[0]
    },
    removeFormer: options.removeFormer,
    async tidy({ signal, most }) {
      let left = most
      await eachInTurn(
        rotated().map(([, index]) => async () => {
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

/** Groups of files that are in one partition by every division. */
function togetherAlways(refs: readonly FileRef[]): Array<[FileRef, ...FileRef[]]> {
  const groups = new Map<string, [FileRef, ...FileRef[]]>()
  for (const ref of refs) {
    const name = `${partitionHashOfKey(ref.key)} ${ref.clientId}`
    const group = groups.get(name)
    if (group) group.push(ref)
    else groups.set(name, [ref])
  }
  return [...groups.values()]
}

/** Does all of this, then throws the first error: a partition that is unavailable does not stop the others. */
async function eachInTurn(works: ReadonlyArray<() => Promise<void>>): Promise<void> {
  const errors: unknown[] = []
  for (const work of works) await work().catch((error) => errors.push(error))
  if (errors.length > 0) throw errors[0]
}

function changesOf({ all, ofClient, everywhere }: Partitions): RecordChanges {
  return {
    async beginChange(change) {
      const { clientId, key } = change.ref
      await (await ofClient(clientId)).placesOf(key).at(-1)?.beginChange(change)
    },
    /** A mark does not move with its file. */
    async endChange(change) {
      await Promise.all((await everywhere(change.ref)).map((index) => index.endChange(change)))
    },
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
