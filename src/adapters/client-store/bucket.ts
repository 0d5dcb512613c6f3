import { timingSafeEqual } from 'node:crypto'
import { Readable } from 'node:stream'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import { type Client, digestSecret, isValid } from '../../core/clients/client.ts'
import { clientRecordKey, clientRecordPrefix, type ObjectKey } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import { unavailable } from '../../core/problem.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import { createSharedCopy, type Shared } from '../shared-copy/shared-copy.ts'
import { parseClient, serializeClient } from './record.ts'

export interface BucketClientStoreOptions {
  /** Set when several processes share the bucket. */
  shared?: Shared
  now?: () => number
}

const RECORDS_AT_ONCE = 16

/** Clients as records in the bucket of the first client. The bucket is the source of truth. An index may be lost. */
export async function bucketClientStore(
  bucket: Bucket,
  { shared, now = Date.now }: BucketClientStoreOptions = {},
): Promise<ClientStore> {
  const copy = await createSharedCopy({
    subject: 'client',
    read: async () => tableOf(await readClients(bucket)),
    shared,
    now,
  })

  const others = (id: string) => [...copy.value().clients.values()].filter((one) => one.id !== id)

  function learn(id: string, client: Client | undefined): void {
    copy.set(tableOf(client ? [...others(id), client] : others(id)))
  }

  const change: ClientStore['change'] = (id, make) =>
    copy.change(`client ${id}`, async (signal) => {
      // A process may have died after it wrote the record and before it announced the change. So read the record again.
      const present = await readClient(bucket, clientRecordKey(id))
      learn(id, present)
      const client = await make(present)
      if (client !== present) {
        signal?.throwIfAborted()
        learn(id, await write(id, client))
      }
      await copy.announce()
      return client
    })

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
    find: (id) => copy.value().clients.get(id),
    findByToken: (token) => copy.value().byToken.get(token),
    findBySecret(secret) {
      const digest = digestSecret(secret)
      const client = copy.value().bySecretDigest.get(digest)
      // The lookup uses a digest, which a caller cannot choose. The final comparison takes constant time.
      const stored = client?.secrets.find(
        (one) => timingSafeEqual(Buffer.from(one.digest), Buffer.from(digest)) && isValid(one, now()),
      )
      return client && stored && { client, stored }
    },
    list: () => [...copy.value().clients.values()],
    change,
    save: async (client) => void (await change(client.id, () => client)),
    remove: async (id) => void (await change(id, () => undefined)),
    refresh: copy.refresh,
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
