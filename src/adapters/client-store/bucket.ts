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

/** How several processes tell each other that the clients have changed. */
export interface ClientChanges {
  /** Makes the version another one. @throws Problem 503 */
  announce(): Promise<void>
  /** Another one after each change, and after what keeps it was emptied. @throws Problem 503 */
  version(): Promise<string | undefined>
}

export interface BucketClientStoreOptions {
  /** Where several processes share the bucket. */
  shared?: { changes: ClientChanges; locks: Locks }
  now?: () => number
}

// However the version was lost or a record was changed by hand: the truth is read anew this often.
const READ_AGAIN_MS = 5 * 60_000
const RECORDS_AT_ONCE = 16
// Two steps of the bucket, which gives up after seconds.
const CHANGE_LIMIT_MS = 30_000

/** Clients as records in a bucket, the first client's: what is there is the truth, and an index can be lost. */
export async function bucketClientStore(
  bucket: Bucket,
  { shared, now = Date.now }: BucketClientStoreOptions = {},
): Promise<ClientStore> {
  const changes = shared?.changes
  // Taken before the reading: a change that comes during it makes another version.
  let version = await changes?.version().catch(() => undefined)
  let readAt = now()
  /** When the version was last asked for, with all that it led to. */
  let heardAt = Number.NEGATIVE_INFINITY
  let known = tableOf(await readClients(bucket))
  // One after the other: each is checked against those before it, and the last one stays.
  const inTurn = createInTurn()

  async function refresh({ maxAgeMs } = { maxAgeMs: 0 }): Promise<void> {
    const begun = now()
    if (begun < heardAt + maxAgeMs) return
    let failure: { error: unknown } | undefined
    const present = await changes?.version().catch((error) => {
      failure = { error }
      return version
    })
    if (present !== version || now() >= readAt + READ_AGAIN_MS) {
      known = tableOf(await readClients(bucket))
      version = present
      readAt = begun
    }
    if (failure) throw failure.error
    heardAt = begun
  }

  const others = (id: string) => [...known.clients.values()].filter((one) => one.id !== id)

  function learn(id: string, client: Client | undefined): void {
    known = tableOf(client ? [...others(id), client] : others(id))
  }

  /** Of one client at a time across all processes; of one at a time in this one, which has one table. */
  const change: ClientStore['change'] = (id, make) =>
    oneAtATime(id, (signal) =>
      inTurn(['clients'], async () => {
        // Not at all when others cannot learn of it.
        await refresh()
        // Whoever has changed it last may have died before it could tell.
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

  /** @returns the record as it is read */
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
    if (others(id).some((other) => areAlike(other, client)))
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
      // The table is searched by a digest, which nobody can steer; the last word is a comparison in constant time.
      const kept = client?.secrets.find(
        (one) => timingSafeEqual(Buffer.from(one.digest), Buffer.from(digest)) && isValid(one, now()),
      )
      return client && kept && { client, kept }
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

/** Made anew on each change, which is rare; looked into on each request. */
function tableOf(clients: readonly Client[]): Table {
  const admitted = clients.filter(({ removing }) => !removing)
  return {
    clients: new Map(clients.map((one) => [one.id, one])),
    byToken: new Map(admitted.map((one) => [one.token, one])),
    bySecretDigest: new Map(admitted.flatMap((one) => one.secrets.map(({ digest }) => [digest, one]))),
  }
}

function areAlike(one: Client, other: Client): boolean {
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

/** The record of a client as the bucket has it; undefined for none. @throws Error for a damaged one, Problem 503 */
export async function readClient(bucket: Bucket, key: ObjectKey): Promise<Client | undefined> {
  const record = await snapshot(bucket, key)
  return record && parseClient(key, record.bytes)
}
