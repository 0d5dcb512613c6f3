import { randomUUID } from 'node:crypto'
import { withExclusiveLock } from '../../../core/async/cross-process-mutex.ts'
import type { Client } from '../../../core/clients/client.ts'
import type { Buckets } from '../../../core/ports/bucket.ts'
import type { ClientStore } from '../../../core/ports/client-store.ts'
import type { FileIndex } from '../../../core/ports/file-index.ts'
import type { Locks } from '../../../core/ports/locks.ts'
import { Problem } from '../../../core/problem.ts'
import { walkedClients } from '../each-client.ts'
import type { CompareBatch, Compared } from './compare-batch.ts'
import { dueFiles } from './due.ts'
import { type Batch, type Listing, openListing } from './listing.ts'
import type { Progress, progressIn, Range } from './progress.ts'

/** Divides all files into ranges, which the processes compare at the same time. */
export interface Ranges {
  /** Compares the next range. @returns false when no keys are left for one */
  compareNext(progress: Progress, signal: AbortSignal): Promise<boolean>
  /** Compares a range whose process has died. Waits when another process compares it. */
  compareLeft(run: string, range: Range, signal: AbortSignal): Promise<void>
}

// An interrupted range repeats at most these.
const BATCH_KEYS = 1000
// 5,000 objects: two seconds of lists, which the other processes wait for.
const BATCHES_PER_RANGE = 5
// A slow store needs an hour for 5,000 files with derivatives of many parts.
const LIMIT_MS = 24 * 3_600_000

/** @param reached called once for each batch, by the process that has compared it */
export function createRanges({
  index,
  buckets,
  clients,
  locks,
  progress,
  compareBatch,
  reached,
  batchKeys = BATCH_KEYS,
}: {
  index: FileIndex
  buckets: Buckets
  clients: ClientStore
  locks: Locks
  progress: ReturnType<typeof progressIn>
  compareBatch: CompareBatch
  reached: (compared: Compared) => Promise<void>
  batchKeys?: number
}): Ranges {
  /** The list that was read for the last range of this process. The next range may continue it. */
  let open: { run: string; clientId: string; listing: Listing } | undefined

  function listingFrom(run: string, client: Client, after: string): Listing {
    const isNext = open?.run === run && open.clientId === client.id && open.listing.position() === after
    const listing = isNext && open ? open.listing : openListing(buckets.of(client), { after, batchKeys })
    open = { run, clientId: client.id, listing }
    return listing
  }

  /** Lists some files, and takes them as a range. The other processes wait until they can take those after it. */
  async function takeNext(run: string): Promise<{ range: Range; batches: Batch[] } | undefined> {
    const { run: current, next } = (await progress.find()) ?? {}
    if (!next || current !== run) return undefined
    const all = [...(await walkedClients(clients, undefined))].sort(byId)
    const [client, following] = all.filter(({ id }) => id >= next.clientId)
    if (!client) {
      open = undefined
      await progress.take(run, { next: undefined })
      return undefined
    }
    const after = client.id === next.clientId ? next.after : ''
    const batches: Batch[] = []
    await ofClient(client, async () => {
      const listing = listingFrom(run, client, after)
      do batches.push(await listing.next())
      while (batches.length < BATCHES_PER_RANGE && batches.at(-1)?.upTo !== undefined)
    }).catch((error) => {
      open = undefined
      throw error
    })
    const upTo = batches.at(-1)?.upTo
    const range = { id: randomUUID(), clientId: client.id, after, ...(upTo === undefined ? {} : { upTo }) }
    const ofFollowing = following && { clientId: following.id, after: '' }
    const rest = upTo === undefined ? ofFollowing : { clientId: client.id, after: upTo }
    return (await progress.take(run, { range, next: rest })) ? { range, batches } : undefined
  }

  async function compare(
    run: string,
    { range, batches, signal }: { range: Range; batches: AsyncIterable<Batch>; signal: AbortSignal },
  ): Promise<void> {
    const client = clients.find(range.clientId)
    const isDue = await dueFiles(index)
    for await (const batch of batches) {
      const nothing: Compared = { files: 0, added: 0, removed: 0, findings: [] }
      const compared = client
        ? await ofClient(client, () => compareBatch(client, batch, { isDue, signal }))
        : nothing
      const { after, upTo } = batch
      if (!(await progress.reached(run, { ...range, after }, { upTo, compared }))) return
      await reached(compared)
    }
  }

  /** As long as its process lives, no other one compares a range. */
  const held = (id: string, work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) =>
    locks.share(
      `index comparison ${id}`,
      async (aborted) => {
        await work(aborted)
        return null
      },
      { signal, limitMs: LIMIT_MS },
    )

  return {
    async compareNext({ run }, signal) {
      const lock = { signal, limitMs: LIMIT_MS }
      const taken = await withExclusiveLock(locks, 'index comparison: next range', () => takeNext(run), lock)
      if (!taken) return false
      const { range, batches } = taken
      await held(
        range.id,
        (aborted) => compare(run, { range, batches: inTurn(batches), signal: aborted }),
        signal,
      )
      return true
    },

    async compareLeft(run, { id }, signal) {
      await held(
        id,
        async (aborted) => {
          const range = (await progress.find())?.ranges.find((one) => one.id === id)
          if (!range) return
          const client = clients.find(range.clientId)
          // The files of a removed client are deleted.
          const batches = client
            ? batchesOf(openListing(buckets.of(client), { ...range, batchKeys }), range)
            : inTurn([{ ...range, files: new Map() }])
          await compare(run, { range, batches, signal: aborted })
        },
        signal,
      )
    },
  }
}

async function* batchesOf(listing: Listing, { upTo }: Range): AsyncGenerator<Batch> {
  for (let batch: Batch | undefined; !batch || batch.upTo !== upTo; ) {
    batch = await listing.next()
    yield batch
  }
}

async function* inTurn<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

/** Names the client in an error: its own bucket may be unavailable. */
async function ofClient<T>({ id }: Client, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw error.with({ detail: `files of the client ${id}: ${error.message}`, cause: error })
  }
}

function byId(one: Client, other: Client): number {
  return one.id < other.id ? -1 : 1
}
