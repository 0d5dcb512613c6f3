import { setTimeout as pause } from 'node:timers/promises'
import { withExclusiveLock } from '../../core/async/cross-process-mutex.ts'
import { type Client, FIRST_CLIENT_ID, newClientId } from '../../core/clients/client.ts'
import {
  type ClientStorage,
  isSameRoot,
  overlap,
  type Root,
  sealedPlace,
} from '../../core/clients/client-storage.ts'
import {
  type CheckedSettings,
  checkedSettings,
  type StorageSettings,
} from '../../core/clients/storage-settings.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { Locks } from '../../core/ports/locks.ts'
import { unavailable } from '../../core/problem.ts'
import { seal, unseal } from '../../core/signing/seal.ts'
import { type ChangeKnown, clientConflict, noSuchClient } from '../clients/change-existing.ts'
import type { HasFiles } from './has-files.ts'

/** Manages the own buckets of clients. */
export interface ClientStorages {
  /**
   * Sets the own bucket of a client, or other credentials for it, after it was tested. `undefined` moves the client
   * back to the bucket of the installation. When the root changes, the client's requests get 503 until all processes
   * know the change.
   *
   * @throws Problem 400 for invalid settings; 422 for a bucket that cannot be used; 404 when the client does not exist;
   *   409 for the first client, for a client with files whose root would change, for a root that overlaps another
   *   client's, and for a client that is being removed; 503
   */
  set(id: string, settings: StorageSettings | undefined): Promise<Client>
  /**
   * Tests a bucket, and changes nothing.
   *
   * @param settings the bucket to test; undefined for the own bucket of the client, with its stored credentials
   * @throws Problem 400 for invalid settings; 422 for a bucket that cannot be used; 404 when the client does not exist; 409 when
   *   the client has no bucket of its own; 503 when its credentials cannot be decrypted
   */
  test(id: string, settings: StorageSettings | undefined): Promise<void>
  /** Creates a client with its own bucket: calls `create` with the new ID. @throws as `set`, and the errors of `create` */
  forNew<T>(
    settings: StorageSettings,
    create: (made: { id: string; storage: ClientStorage }) => Promise<T>,
  ): Promise<T>
}

// When the process dies during a change, its client is locked out for at most this time.
const PAUSE_MS = 60_000
// Two searches for files, the wait between them, and the write must fit into the pause, even when clocks differ.
const CHANGE_LIMIT_MS = 45_000

export function createClientStorages({
  store,
  changeKnown,
  hasFiles,
  locks,
  tryStorage,
  key,
  installation,
  clientCacheTtlMs,
  now = Date.now,
}: {
  store: ClientStore
  changeKnown: ChangeKnown
  hasFiles: HasFiles
  locks: Locks
  /** Tests a bucket. @throws Problem 422 */
  tryStorage(settings: CheckedSettings): Promise<{ address: string }>
  /** The key for {@link seal}. */
  key: Buffer
  /** The root of clients without an own bucket; absent when that is not in S3. */
  installation: Root | undefined
  /** How long other processes may use their cached state of the client, in milliseconds. */
  clientCacheTtlMs: number
  now?: () => number
}): ClientStorages {
  async function tested(id: string, settings: StorageSettings): Promise<ClientStorage> {
    const { secretAccessKey, ...checked } = checkedSettings(settings)
    const { address } = await tryStorage({ ...checked, secretAccessKey })
    return { ...checked, sealedSecret: seal(secretAccessKey, { key, place: sealedPlace(id) }), address }
  }

  /** The stored settings of an own bucket, with the secret key in plain text. @throws Problem 409, 503 */
  function storedSettings({ id, storage }: Client): CheckedSettings {
    if (!storage)
      throw clientConflict(
        `The client ${id} has no bucket of its own. Send the settings of a bucket to test.`,
      )
    const { sealedSecret, address: _, ...settings } = storage
    try {
      return { ...settings, secretAccessKey: unseal(sealedSecret, { key, place: sealedPlace(id) }) }
    } catch (cause) {
      throw unavailable(
        'The credentials of this bucket cannot be decrypted. Save its secret access key again.',
        {
          cause,
        },
      )
    }
  }

  /** Checks that no other root overlaps this one. @throws Problem 409 */
  function checkNoOverlap(id: string, root: Root): void {
    if (installation && overlap(root, installation))
      throw clientConflict(
        'This bucket and prefix overlap the storage of the installation. Use another bucket or prefix.',
      )
    const other = store.list().find((one) => one.id !== id && one.storage && overlap(root, one.storage))
    if (other)
      throw clientConflict(
        `This bucket and prefix overlap the storage of client ${other.id}. Use another prefix.`,
      )
  }

  /** One change at a time for all clients, since each is compared with all others. */
  function inTurn<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const changing = async (signal: AbortSignal) => {
      await store.refresh()
      return work(signal)
    }
    return withExclusiveLock(locks, 'client storages', changing, { limitMs: CHANGE_LIMIT_MS })
  }

  function known(id: string): Client {
    const client = store.find(id)
    if (!client) throw noSuchClient(id)
    if (id === FIRST_CLIENT_ID)
      throw clientConflict(
        'The first client must use the bucket of the installation, which stores all records.',
      )
    if (client.removing) throw clientConflict(`${id} is being removed`)
    return client
  }

  async function checkEmpty(client: Client): Promise<void> {
    if (await hasFiles(client))
      throw clientConflict(
        `The client ${client.id} has files or an upload in progress, which would be left behind. Delete them first, or create another client.`,
      )
  }

  /** Changes the root. Requests are paused, so that no upload begins in one root and ends in the other. */
  async function move(
    client: Client,
    { storage, signal }: { storage: ClientStorage | undefined; signal: AbortSignal },
  ) {
    const { id } = client
    await checkEmpty(client)
    const until = now() + PAUSE_MS
    await changeKnown(id, (present) => ({ ...present, pausedUntil: until }))
    try {
      await pause(clientCacheTtlMs, undefined, { signal })
      await checkEmpty(client)
      return await changeKnown(id, ({ pausedUntil, storage: _, ...present }) => {
        signal.throwIfAborted()
        if (pausedUntil !== until || now() >= until) throw unavailable('The change took too long. Try again.')
        return { ...present, ...(storage ? { storage } : {}) }
      })
    } catch (error) {
      // If this fails too, the pause expires by itself.
      await changeKnown(id, ({ pausedUntil: _, ...present }) => present).catch(() => {})
      throw error
    }
  }

  return {
    async set(id, settings) {
      await store.refresh()
      known(id)
      const storage = settings && (await tested(id, settings))
      return inTurn(async (signal) => {
        const client = known(id)
        if (storage) checkNoOverlap(id, storage)
        if (!isSameRoot(client.storage, storage)) return move(client, { storage, signal })
        return changeKnown(id, (present) => ({ ...present, ...(storage ? { storage } : {}) }))
      })
    },
    async test(id, settings) {
      await store.refresh()
      const client = store.find(id)
      if (!client) throw noSuchClient(id)
      await tryStorage(settings ? checkedSettings(settings) : storedSettings(client))
    },
    async forNew(settings, create) {
      const id = newClientId()
      const storage = await tested(id, settings)
      return inTurn(async () => {
        checkNoOverlap(id, storage)
        return create({ id, storage })
      })
    },
  }
}
