import { randomInt, randomUUID } from 'node:crypto'
import type { Client } from '../../../core/clients/client.ts'
import type { Buckets } from '../../../core/ports/bucket.ts'
import type { ClientStore } from '../../../core/ports/client-store.ts'
import type { FileIndex } from '../../../core/ports/file-index.ts'
import type { Problem } from '../../../core/problem.ts'
import { noClients, walkedClients } from '../each-client.ts'
import { ClientFailure, ofClient } from './client-failure.ts'
import type { CompareBatch, Compared, Pass } from './compare-batch.ts'
import { dueFiles } from './due-files.ts'
import { type Batch, batchesOf, type Listing, openListing } from './listing.ts'
import type { Place, Progress, progressIn, Range } from './progress.ts'

/** Divides all files into ranges, which the processes compare at the same time. */
export interface Ranges {
  /**
   * Compares a range: the one of the next client in which this process has failed, else the next one, else one that another process has
   * begun. It waits for that process, and compares the range only if it has died. When files of a client cannot be read, they are left for
   * the end, and for the next attempt.
   * @param failures of this attempt by client. Their clients are ignored, and a further failure is added
   * @returns false when no range of other clients is left
   * @throws Problem 503 when the index, the common bucket or very many buckets are unavailable
   */
  compareOne(progress: Progress, failures: Map<string, Problem>, signal: AbortSignal): Promise<boolean>
}

/** Runs `work` while no other process runs one of this name. The signal aborts, too, when this process has lost the lock. */
export type Alone = <T>(
  name: string,
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
) => Promise<T>

// An interrupted range repeats at most these.
const BATCH_KEYS = 1000
// 5,000 objects: two seconds of lists, which the other processes wait for. So the lists of all processes are as fast as one connection.
const BATCHES_PER_RANGE = 5
// So many fail only together: each further one would wait, too.
const MOST_FAILED_IN_COMMON = 3
// 150 kB of progress, which each step reads and writes.
const MOST_POSTPONED = 1000

/** @param reached called once for each batch, by the process that has compared it */
export function createRanges({
  index,
  buckets,
  clients,
  alone,
  progress,
  compareBatch,
  reached,
  batchKeys = BATCH_KEYS,
}: {
  index: FileIndex
  buckets: Buckets
  clients: ClientStore
  alone: Alone
  progress: ReturnType<typeof progressIn>
  compareBatch: CompareBatch
  reached: (compared: Compared) => Promise<void>
  batchKeys?: number
}): Ranges {
  /** The list that was read for the last range of this process. The next range may continue it. */
  let open: { run: string; pass: Pass; clientId: string; listing: Listing } | undefined
  /** The ranges in which this process has failed, by client. It continues there, so a broken bucket does not leave a range for each attempt. */
  const failedIn = new Map<string, string>()

  /** Continues the open list only in the pass that has opened it: in a later one, it may be hours old. */
  async function listingFrom({ run, pass }: Progress, client: Client, after: string): Promise<Listing> {
    const isOfPass = open?.run === run && open.pass === pass && open.clientId === client.id
    if (open && isOfPass && open.listing.position() === after) return open.listing
    await closeOpen()
    const listing = openListing(buckets.of(client), { after, batchKeys, only: onlyIn(pass) })
    open = { run, pass, clientId: client.id, listing }
    return listing
  }

  async function closeOpen(listing = open?.listing): Promise<void> {
    if (open?.listing === listing) open = undefined
    await listing?.close()
  }

  /** The client to which a place belongs, with the place that comes after this client. */
  async function placed(place: Place): Promise<{ client?: Client; after: string; following?: Place }> {
    const all = [...(await walkedClients(clients, undefined))].sort(byId)
    if (all.length === 0) throw noClients()
    const [client, other] = all.filter(({ id }) =>
      place.isPostponed ? id === place.clientId : id >= place.clientId,
    )
    return {
      ...(client ? { client } : {}),
      after: client?.id === place.clientId ? place.after : '',
      ...(other ? { following: { clientId: other.id, after: '' } } : {}),
    }
  }

  /** Leaves what remains of a client for the end, when it comes next. Its list would be hours old then. */
  async function postpone(clientId: string): Promise<void> {
    const current = await progress.find()
    if (!current?.next) return
    const { client, after, following: next } = await placed(current.next)
    if (client?.id !== clientId) return
    if (open?.clientId === clientId) await closeOpen()
    const range = { id: randomUUID(), clientId, after, isPostponed: true as const }
    await progress.take(current, { from: current.next, range, next })
  }

  /** Lists some files, and takes them as a range. The other processes wait until they can take those after it. */
  async function takeNext(
    { run, pass }: Progress,
    signal: AbortSignal,
  ): Promise<{ range: Range; batches: Batch[] } | undefined> {
    const current = await progress.find()
    if (!current?.next || current.run !== run || current.pass !== pass) return undefined
    const from = current.next
    const { client, after, following } = await placed(from)
    if (!client) {
      await closeOpen()
      await progress.take(current, { from, next: undefined })
      return undefined
    }
    const batches: Batch[] = []
    await ofClient(client, { index, signal }, async () => {
      const listing = await listingFrom(current, client, after)
      try {
        do batches.push(await listing.next(signal))
        while (batches.length < BATCHES_PER_RANGE && batches.at(-1)?.upTo !== undefined)
      } catch (error) {
        await closeOpen(listing)
        throw error
      }
    })
    const upTo = batches.at(-1)?.upTo
    const range = { id: randomUUID(), clientId: client.id, after, ...(upTo === undefined ? {} : { upTo }) }
    const own = {
      clientId: client.id,
      after: upTo ?? '',
      ...(from.isPostponed ? { isPostponed: true as const } : {}),
    }
    const next = upTo === undefined ? following : own
    return (await progress.take(current, { from, range, next })) ? { range, batches } : undefined
  }

  async function compare(
    current: Progress,
    { range, batches, signal }: { range: Range; batches?: readonly Batch[]; signal: AbortSignal },
  ): Promise<void> {
    // Another process may have just added the client.
    await clients.refresh()
    const client = clients.find(range.clientId)
    const isDue = dueFiles(index, current.pass)
    // The files of a removed client are deleted.
    const listed = client
      ? (batches ??
        batchesOf(openListing(buckets.of(client), { ...range, batchKeys, only: onlyIn(current.pass) }), {
          range,
          signal,
        }))
      : [{ ...range, files: new Map() }]
    for await (const batch of listed) {
      const { pass } = current
      const compared: Compared = client
        ? await ofClient(client, { index, signal }, () =>
            compareBatch(client, batch, { pass, isDue, signal }),
          )
        : { files: 0, added: 0, removed: 0, findings: [] }
      const { after, upTo } = batch
      if (!(await progress.reached(current, { ...range, after }, { upTo, compared }))) return
      await reached(compared)
    }
  }

  /** Compares a range that was taken before, from where it was interrupted. */
  async function compareLeft(current: Progress, { id }: Range, signal: AbortSignal): Promise<void> {
    const range = (await progress.find())?.ranges.find((one) => one.id === id)
    if (range) await compare(current, { range, signal })
  }

  async function compareAlone(
    { id, clientId }: Range,
    work: (signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ) {
    failedIn.set(clientId, id)
    await alone(id, work, signal)
    failedIn.delete(clientId)
  }

  async function isEveryoneAffected(failures: Map<string, Problem>): Promise<boolean> {
    const inCommon = [...failures.keys()].filter((id) => !clients.find(id)?.storage)
    if (inCommon.length >= MOST_FAILED_IN_COMMON) return true
    return ((await progress.find())?.ranges.filter((one) => one.isPostponed).length ?? 0) >= MOST_POSTPONED
  }

  /** See `compareOne`. */
  async function compareAny(
    current: Progress,
    isRead: (part: Place | Range) => boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { next, ranges } = current
    const failed = ranges.find(
      ({ id, clientId }) => id === failedIn.get(clientId) && clientId === next?.clientId,
    )
    // Another process has resumed it. A client that was removed has no files to read.
    if (next && !isRead(next) && clients.find(next.clientId)) {
      await postpone(next.clientId)
      return true
    }
    if (next && !failed) {
      const taken = await alone('next range', (held) => takeNext(current, held), signal)
      if (taken)
        await compareAlone(taken.range, (held) => compare(current, { ...taken, signal: held }), signal)
      return true
    }
    const readable = ranges.filter(isRead)
    const begun = readable.filter(({ isPostponed }) => !isPostponed)
    // Processes that choose at random seldom wait for each other.
    const left = failed ?? (begun.length > 0 ? begun[randomInt(begun.length)] : undefined)
    const postponed = readable[0]
    if (left) await compareAlone(left, (held) => compareLeft(current, left, held), signal)
    else if (postponed) await progress.resume(current, postponed)
    return left !== undefined || postponed !== undefined
  }

  return {
    async compareOne(current, failures, signal) {
      try {
        return await compareAny(current, ({ clientId }) => !failures.has(clientId), signal)
      } catch (error) {
        // When a lock was lost, its work may still read this list. A disk that does not answer must not be waited for.
        void closeOpen().catch(() => {})
        if (!(error instanceof ClientFailure)) throw error
        failures.set(error.clientId, error.problem)
        if (await isEveryoneAffected(failures)) throw error.problem
        await postpone(error.clientId)
        return true
      }
    },
  }
}

/** The first pass needs no sizes and derivatives, and others wait for it. */
const onlyIn = (pass: Pass) => (pass === 'originals' ? ('records' as const) : undefined)

function byId(one: Client, other: Client): number {
  return one.id < other.id ? -1 : 1
}
