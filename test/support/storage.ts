import { Readable } from 'node:stream'
import type { Storage } from '../../src/app.ts'
import { type Client, FIRST_CLIENT_ID } from '../../src/core/clients/client.ts'
import { storedKey } from '../../src/core/files/object-key.ts'
import type { Bucket } from '../../src/core/ports/bucket.ts'
import type { WireRecord } from './requests/client.ts'
import type { Service } from './service.ts'

/** A `wrapStorage` that applies `change` to the bucket of every client, and leaves all else unchanged. */
export function wrapBuckets(
  change: (bucket: Bucket, client: Pick<Client, 'id' | 'token'>) => Partial<Bucket>,
): (storage: Storage) => Storage {
  return ({ buckets, index }) => ({
    index,
    buckets: {
      ...buckets,
      of: (client) => {
        const bucket = buckets.of(client)
        return { ...bucket, ...change(bucket, client) }
      },
    },
  })
}

/** Empties an original and its record: empty uploads are refused, but a bucket may still contain an empty file. */
export async function emptied({ storage }: Service, { s3PathOriginal }: WireRecord): Promise<void> {
  const bucket = storage.buckets.of({ id: FIRST_CLIENT_ID, token: '' })
  const key = storedKey(s3PathOriginal)
  await bucket.put(key, Readable.from([]), { mediaType: 'application/octet-stream' })
  const { original } = await storage.index.find({ clientId: FIRST_CLIENT_ID, key })
  if (original?.state !== 'stored') throw new Error(`${key} is not stored`)
  await storage.index.amend(FIRST_CLIENT_ID, original.record, { ...original.record, size: 0 })
}
