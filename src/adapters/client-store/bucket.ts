import { timingSafeEqual } from 'node:crypto'
import { Readable } from 'node:stream'
import { z } from 'zod'
import { readAll } from '../../core/asset.ts'
import { type Client, digestSecret } from '../../core/client.ts'
import { clientRecordKey, clientRecordPrefix } from '../../core/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'

const clientRecord = z.object({
  id: z.string(),
  token: z.string(),
  secretDigests: z.array(z.string().length(64)),
  createdAt: z.number(),
})

/**
 * Clients as records in a bucket, the first client's: what is there is the truth, and an index can be lost. They are
 * read once, at the start.
 */
export async function bucketClientStore(bucket: Bucket): Promise<ClientStore> {
  const clients = new Map<string, Client>()
  // Made anew on each change, which is rare; looked into on each request.
  let byToken = new Map<string, Client>()
  let bySecretDigest = new Map<string, Client>()
  const keep = (client: Client) => {
    clients.set(client.id, client)
    byToken = new Map([...clients.values()].map((one) => [one.token, one]))
    bySecretDigest = new Map(
      [...clients.values()].flatMap((one) => one.secretDigests.map((digest) => [digest, one])),
    )
  }

  for await (const key of bucket.list(clientRecordPrefix)) {
    const asset = await bucket.find(key)
    if (!asset) continue
    const text = (await readAll(asset)).toString('utf8')
    try {
      keep(clientRecord.parse(JSON.parse(text)))
    } catch (cause) {
      throw new Error(`${key}: expected a client's record; restore it or remove it`, { cause })
    }
  }

  async function save(client: Client): Promise<void> {
    for (const other of clients.values()) {
      if (other.id === client.id) continue
      const shared =
        other.token === client.token || other.secretDigests.some((one) => client.secretDigests.includes(one))
      if (shared) throw new Error(`another client has the token or a secret of ${client.id}`)
    }
    const record = clientRecord.parse(client)
    await bucket.put(clientRecordKey(client.id), Readable.from([Buffer.from(JSON.stringify(record))]), {
      mediaType: 'application/json',
    })
    keep(record)
  }
  // One after the other: each is checked against those before it, and the last one stays.
  let saved: Promise<unknown> = Promise.resolve()

  return {
    find: (id) => clients.get(id),
    findByToken: (token) => byToken.get(token),
    findBySecret(secret) {
      const digest = digestSecret(secret)
      const client = bySecretDigest.get(digest)
      // The table is searched by a digest, which nobody can steer; the last word is a comparison in constant time.
      const match = client?.secretDigests.some((known) =>
        timingSafeEqual(Buffer.from(known), Buffer.from(digest)),
      )
      return match ? client : undefined
    },
    list: () => [...clients.values()],
    save(client) {
      const saving = saved.then(() => save(client))
      saved = saving.catch(() => {})
      return saving
    },
  }
}
