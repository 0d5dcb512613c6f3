import { setTimeout as pause } from 'node:timers/promises'
import { aliasRecordPrefix } from '../../core/aliases/name.ts'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import { type Client, FIRST_CLIENT_ID, isClientId } from '../../core/clients/client.ts'
import { classifyKey, type ObjectKey, remoteRecordPrefix } from '../../core/files/object-key.ts'
import { foreignDerivatives } from '../../core/foreign/foreign-path.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import type { FileLists, FileLookup, IndexedFile } from '../../core/ports/file-index.ts'
import type { Partitioning } from '../../core/ports/index/partitioning.ts'
import { Problem, unavailable } from '../../core/problem.ts'
import { redirectPrefix } from '../../core/storage/redirect-key.ts'
import { clientConflict, emitChanged, noSuchClient } from '../clients/change-existing.ts'
import { CONCURRENCY } from '../maintenance/walk.ts'
import type { Removals } from '../originals/delete.ts'
import { deleteAll } from '../originals/delete-objects.ts'
import type { SweepResumables } from '../upload/resumable/sweep-resumables.ts'
import type { HasFiles } from './has-files.ts'

/**
 * Removes a client: first its access, permanently, then its files, then its record. After an abort by a crash or by
 * `signal`, another call continues the removal. Once `files` was given, later calls need not give it again.
 *
 * @returns the number of originals that this call deleted
 * @throws Problem 404 when the client does not exist and, with `files`, has no files left either; 409 for the first
 *   client, and for a client with files unless `files`; 503 when its uploads, transformations or deletes take too long,
 *   or bucket or index are unavailable
 */
export type RemoveClient = (id: string, options: RemoveClientOptions) => Promise<{ originals: number }>

/** Permission, cancellation and progress of a removal. */
export interface RemoveClientOptions {
  /** Whether files of the client may be deleted. */
  files: boolean
  signal: AbortSignal
  /** @param originals number of originals deleted so far */
  progress(originals: number): Promise<void>
}

// How long a transformation that began earlier may take to end: its deadline, plus the grace period of a sweep.
const WAIT_MS = 150_000
const LOOK_AGAIN_MS = 500
// Objects of the client that belong to no original.
const OWN_RECORDS = [remoteRecordPrefix, aliasRecordPrefix, redirectPrefix, foreignDerivatives]

export function createRemoveClient({
  clients,
  index,
  buckets,
  removals,
  hasFiles,
  resumables,
  partitioning,
  events,
  clientCacheTtlMs,
  now = Date.now,
}: {
  clients: ClientStore
  index: FileLookup & FileLists
  buckets: Buckets
  removals: Removals
  hasFiles: HasFiles
  resumables: Pick<SweepResumables, 'ofClient'>
  partitioning?: Pick<Partitioning, 'end'> | undefined
  events: EventBus
  /** How long other processes may still accept the tokens of the client, in milliseconds. */
  clientCacheTtlMs: number
  now?: () => number
}): RemoveClient {
  /** @param removing computes the new value from the current one; undefined takes the removal back */
  async function mark(
    id: string,
    removing: (present: Client['removing']) => Client['removing'],
  ): Promise<void> {
    let known: Client | undefined
    const changed = await clients.change(id, (client) => {
      if (!client) throw noSuchClient(id)
      known = client
      const { removing: before, ...active } = client
      const after = removing(before)
      return after ? { ...active, removing: after } : active
    })
    emitChanged(events, { before: known, after: changed })
  }

  /** A client whose record is already deleted while files of it still exist. */
  async function clientOfLeftFiles(id: string): Promise<Client | undefined> {
    if (!isClientId(id)) return undefined
    const client: Client = { id, token: '', secrets: [], createdAt: 0 }
    return (await hasFiles(client)) ? client : undefined
  }

  /** From now on its tokens are rejected. Each call repeats this: an earlier call may have died before other processes knew. */
  async function endAccess(client: Client, { files, signal }: RemoveClientOptions): Promise<void> {
    const { id } = client
    const mayDeleteFiles = files || client.removing?.files === true
    const check = async () => {
      if (!mayDeleteFiles && (await hasFiles(client)))
        throw clientConflict(
          `The client ${id} has files. To delete them too, add --files (over HTTP: ?files).`,
        )
    }
    try {
      await check()
      await mark(id, (before) => ({ files: mayDeleteFiles || before?.files === true }))
      await wait(clientCacheTtlMs, signal)
      // Files may have been added since the first check.
      await check()
      // From here on, the removal is not taken back.
      await mark(id, (before) => {
        if (!before) throw clientConflict(`Another request cancelled the removal of ${id}. Repeat it.`)
        return { files: true }
      })
    } catch (error) {
      // Without permission to delete files, take the removal back. Its signal may be aborted.
      if (!mayDeleteFiles && clients.find(id)?.removing)
        await mark(id, (before) => (before?.files ? before : undefined))
      throw error
    }
  }

  return async (id, options) => {
    const { signal, progress } = options
    await clients.refresh()
    const known = clients.find(id)
    const client = known ?? (options.files ? await clientOfLeftFiles(id) : undefined)
    if (!client) throw noSuchClient(id)
    if (id === FIRST_CLIENT_ID)
      throw clientConflict('The first client cannot be removed: the service needs it.')
    if (known) await endAccess(known, options)

    // Before its files: a complete resumable upload may be about to become a file.
    await resumables.ofClient(id)
    const bucket = buckets.of(client)
    let originals = 0
    const remove = async (key: ObjectKey): Promise<'gone' | 'left'> => {
      const meaning = classifyKey(key)
      if (!meaning) {
        if (OWN_RECORDS.some((prefix) => key.startsWith(prefix))) await deleteAll(bucket, [key])
        return 'gone'
      }
      try {
        await removals.remove(client, { full: meaning.original }, true)
        originals += 1
        await progress(originals)
      } catch (error) {
        if (!(error instanceof Problem) || error.status !== 404) throw error
        // There is no original that could be deleted. It is a leftover of one, or an upload in progress.
        if ((await index.find({ clientId: id, key: meaning.original.key })).original) return 'left'
        const { failed } = await bucket.delete([key])
        if (failed[0]) throw unavailable('a file could not be deleted yet', { cause: failed[0].error })
      }
      return 'gone'
    }
    const removeEntry = async ({ ref, original }: IndexedFile): Promise<'gone' | 'left'> => {
      if (original.state !== 'pending' && original.state !== 'gone') await remove(ref.key)
      else await removals.sweep(client, ref)
      return (await index.find(ref)).original ? 'left' : 'gone'
    }

    for (let until = now() + WAIT_MS; ; ) {
      let left = 0
      const before = originals
      for await (const outcome of mapConcurrent(index.list(id), {
        concurrency: CONCURRENCY,
        signal,
        work: removeEntry,
      }))
        if (outcome === 'left') left += 1
      // Originals first: files that belong to an original are deleted with it. The second pass deletes the rest.
      for (const isTurn of [isOriginal, () => true]) {
        const work = async (key: ObjectKey) => (isTurn(key) ? remove(key) : 'gone')
        for await (const outcome of mapConcurrent(bucket.list(''), {
          concurrency: CONCURRENCY,
          signal,
          work,
        }))
          if (outcome === 'left') left += 1
      }
      signal.throwIfAborted()
      if (left === 0) break
      if (originals > before) until = now() + WAIT_MS
      if (now() > until)
        throw unavailable(
          `The client ${id} has no access any more, but ${left} of its files are still being stored or deleted. Remove it again to continue.`,
        )
      await wait(LOOK_AGAIN_MS, signal)
    }
    await resumables.ofClient(id)
    await partitioning?.end(id)
    await clients.remove(id)
    events.emit('client.changed', { clientId: id })
    return { originals }
  }
}

function isOriginal(key: ObjectKey): boolean {
  return classifyKey(key)?.kind === 'original'
}

/** Waits. @throws `signal.reason`, which the aborted timer would hide */
async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}
