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
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { Locks } from '../../core/ports/locks.ts'
import { unavailable } from '../../core/problem.ts'
import { seal } from '../../core/signing/seal.ts'
import { type ChangeKnown, clientConflict, noSuchClient } from '../clients/change-existing.ts'
import { type CheckedSettings, checkedSettings, type StorageSettings } from '../clients/storage-settings.ts'
import type { HasFiles } from './has-files.ts'

/** The buckets that clients have of their own. */
export interface ClientStorages {
  /**
   * Gives a client a bucket of its own, or other keys for the one that it has, once that has been tried; `undefined` gives it
   * back to the installation's. While its root changes, which takes as long as other processes take to hear of it, its
   * requests are a 503.
   *
   * @throws Problem 400 for settings that are none; 422 for a bucket that cannot be used; 404 when there is no such client;
   *   409 for the first one, for one with files when its root would be another, for a root that overlaps another's, and
   *   for one that is being removed; 503
   */
  set(id: string, settings: StorageSettings | undefined): Promise<Client>
  /** Makes a client that has one from its beginning: by `create`, with its id. @throws as `set`, and what `create` throws */
  forNew<T>(
    settings: StorageSettings,
    create: (made: { id: string; storage: ClientStorage }) => Promise<T>,
  ): Promise<T>
}

// Nobody may be shut out for longer by a process that has died over a change.
const PAUSE_MS = 60_000
// Looking for files twice, waiting in between, and writing: within the pause, whatever the clocks of others say.
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
  /** @throws Problem 422 */
  tryStorage(settings: CheckedSettings): Promise<{ address: string }>
  /** For {@link seal}. */
  key: Buffer
  /** Where the clients without one are; absent when that is no bucket of S3. */
  installation: Root | undefined
  /** How long other processes may go on with the client as it was. */
  clientCacheTtlMs: number
  now?: () => number
}): ClientStorages {
  async function tried(id: string, settings: StorageSettings): Promise<ClientStorage> {
    const { secretAccessKey, ...checked } = checkedSettings(settings)
    const { address } = await tryStorage({ ...checked, secretAccessKey })
    return { ...checked, sealedSecret: seal(secretAccessKey, { key, place: sealedPlace(id) }), address }
  }

  /** @throws Problem 409 */
  function checkApart(id: string, root: Root): void {
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

  /** One change at a time, of whichever client: each is compared with all others. */
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

  /** Nobody may begin an upload in one root and be told of it in another. */
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
      // Else it ends by itself.
      await changeKnown(id, ({ pausedUntil: _, ...present }) => present).catch(() => {})
      throw error
    }
  }

  return {
    async set(id, settings) {
      await store.refresh()
      known(id)
      const storage = settings && (await tried(id, settings))
      return inTurn(async (signal) => {
        const client = known(id)
        if (storage) checkApart(id, storage)
        if (!isSameRoot(client.storage, storage)) return move(client, { storage, signal })
        return changeKnown(id, (present) => ({ ...present, ...(storage ? { storage } : {}) }))
      })
    },
    async forNew(settings, create) {
      const id = newClientId()
      const storage = await tried(id, settings)
      return inTurn(async () => {
        checkApart(id, storage)
        return create({ id, storage })
      })
    },
  }
}
