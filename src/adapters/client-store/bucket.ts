import { timingSafeEqual } from 'node:crypto'
import { Readable } from 'node:stream'
import { withExclusiveLock } from '../../core/async/cross-process-mutex.ts'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import { type Client, digestSecret, isValid } from '../../core/clients/client.ts'
import { clientRecordKey, clientRecordPrefix, type ObjectKey } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { Locks } from '../../core/ports/locks.ts'
import { unavailable } from '../../core/problem.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import { createInTurn } from '../in-turn.ts'
import { parseClient, serializeClient } from './record.ts'

/** Notifies other processes of changes of clients. */
export interface ClientChanges {
  /** Sets a new version. @throws Problem 503 */
  announce(): Promise<void>
  /** The version. It differs after each change, and after the store of the version was emptied. @throws Problem 503 */
  version(): Promise<string | undefined>
}

export interface BucketClientStoreOptions {
  /** Set when several processes share the bucket. */
  shared?: { changes: ClientChanges; locks: Locks }
  now?: () => number
}

// The records are read again this often. This covers a lost version and records that were changed by hand.
const READ_AGAIN_MS = 5 * 60_000
const RECORDS_AT_ONCE = 16
// A change takes two operations of the bucket, which time out after a few seconds.
const CHANGE_LIMIT_MS = 30_000

/** Clients as records in the bucket of the first client. The bucket is the source of truth. An index may be lost. */
export async function bucketClientStore(
  bucket: Bucket,
  { shared, now = Date.now }: BucketClientStoreOptions = {},
): Promise<ClientStore> {
  const changes = shared?.changes
  // Read before the records: a change during the reading sets another version, so the next refresh reads again.
  let version = await changes?.version().catch(() => undefined)
  let readAt = now()
  /** When the last complete refresh began. */
  let refreshedAt = Number.NEGATIVE_INFINITY
  let known = tableOf(await readClients(bucket))
  // Changes run one after the other: each is checked against the results of those before it.
  const inTurn = createInTurn()

  async function refresh({ maxAgeMs } = { maxAgeMs: 0 }): Promise<void> {
    const begun = now()
    // Each comparison also ends when the clock was set back.
    if (begun >= refreshedAt && begun < refreshedAt + maxAgeMs) return
    let failure: { error: unknown } | undefined
    const present = await changes?.version().catch((error) => {
      failure = { error }
      return version
    })
    if (present !== version || begun >= readAt + READ_AGAIN_MS || begun < readAt) {
      known = tableOf(await readClients(bucket))
      version = present
      readAt = begun
    }
    if (failure) throw failure.error
    refreshedAt = begun
  }

  const others = (id: string) => [...known.clients.values()].filter((one) => one.id !== id)

  function learn(id: string, client: Client | undefined): void {
    known = tableOf(client ? [...others(id), client] : others(id))
  }

  /**
   * Across all processes, one change per client at a time. Within
   * this process, one change at a time, since it has one table.
   */
  const change: ClientStore['change'] = (id, make) =>
    oneAtATime(id, (signal) =>
      inTurn(['clients'], async () => {
        // Fails before the change when other processes could not be notified.
        await refresh()
        // A process may have died after it wrote the record and before it announced the change. So read the record again.
        const present = await readClient(bucket, clientRecordKey(id))
        learn(id, present)
        const client = await make(present)
        if (client !== present) {
          signal?.throwIfAborted()
          learn(id, await write(id, client))
        }
        await changes?.announce().catch((cause) => {
          throw unavailable(
            'client change stored, but other processes were not notified: they see it within five minutes',
            {
              cause,
            },
          )
        })
        return client
      }),
    )

  function oneAtATime<T>(id: string, work: (signal?: AbortSignal) => Promise<T>): Promise<T> {
    return shared
      ? withExclusiveLock(shared.locks, `client ${id}`, work, { limitMs: CHANGE_LIMIT_MS })
      : work()
  }

  /** @returns the client as a later read returns it */
  async function write(id: string, client: Client | undefined): Promise<Client | undefined> {
    const key = clientRecordKey(id)
    if (!client) {
      const { failed } = await bucket.delete([key])
      if (failed[0])
        throw unavailable('The record of the client could not be deleted. Try again.', {
          cause: failed[0].error,
        })
      return undefined
    }
    if (others(id).some((other) => shareCredentials(other, client)))
      throw new Error(`another client has the token or a secret of ${id}`)
    const bytes = serializeClient(client)
    await bucket.put(key, Readable.from([bytes]), { mediaType: 'application/json' })
    return parseClient(key, bytes)
  }

  return {
    find: (id) => known.clients.get(id),
    findByToken: (token) => known.byToken.get(token),
    findBySecret(secret) {
      const digest = digestSecret(secret)
      const client = known.bySecretDigest.get(digest)
      // The lookup uses a digest, which a caller cannot choose. The final comparison takes constant time.
      const stored = client?.secrets.find(
        (one) => timingSafeEqual(Buffer.from(one.digest), Buffer.from(digest)) && isValid(one, now()),
      )
      return client && stored && { client, stored }
    },
    list: () => [...known.clients.values()],
    change,
    save: async (client) => void (await change(client.id, () => client)),
    remove: async (id) => void (await change(id, () => undefined)),
    refresh: (options) => inTurn(['clients'], () => refresh(options)),
  }
}

interface Table {
  clients: ReadonlyMap<string, Client>
  byToken: ReadonlyMap<string, Client>
  bySecretDigest: ReadonlyMap<string, Client>
}

/** Built on each change, which is rare, so that each request only does lookups. */
function tableOf(clients: readonly Client[]): Table {
  const admitted = clients.filter(({ removing }) => !removing)
  return {
    clients: new Map(clients.map((one) => [one.id, one])),
    byToken: new Map(admitted.map((one) => [one.token, one])),
    bySecretDigest: new Map(admitted.flatMap((one) => one.secrets.map(({ digest }) => [digest, one]))),
  }
}

function shareCredentials(one: Client, other: Client): boolean {
  return (
    one.token === other.token ||
    one.secrets.some(({ digest }) => other.secrets.some((secret) => secret.digest === digest))
  )
}

async function readClients(bucket: Bucket): Promise<Client[]> {
  const work = (key: ObjectKey) => readClient(bucket, key)
  const clients: Client[] = []
  for await (const client of mapConcurrent(bucket.list(clientRecordPrefix), {
    concurrency: RECORDS_AT_ONCE,
    work,
  }))
    if (client) clients.push(client)
  return clients
}

/** Reads the record of a client; undefined when it does not exist. @throws Error for a damaged record; Problem 503 */
export async function readClient(bucket: Bucket, key: ObjectKey): Promise<Client | undefined> {
  const record = await snapshot(bucket, key)
  return record && parseClient(key, record.bytes)
}
