import { Readable } from 'node:stream'
import type { Storage } from '../../src/app.ts'
import { type Client, FIRST_CLIENT_ID } from '../../src/core/clients/client.ts'
import { storedKey } from '../../src/core/files/object-key.ts'
import { type Bucket, ofSize } from '../../src/core/ports/bucket.ts'
import type { WireRecord } from './requests/client.ts'
import type { Service } from './service.ts'

/** A `wrapStorage` that replaces the methods returned by `change` in the bucket of every client. */
export function wrapBuckets(
  change: (bucket: Bucket, client: Pick<Client, 'id' | 'token'>) => Partial<Bucket>,
): (storage: Storage) => Storage {
  return ({ buckets, index }) => ({
    index,
    buckets: {
      ...buckets,
      of: (client) => {
        const bucket = buckets.of(client)
        const { find, ...others } = change(bucket, client)
        if (!find) return { ...bucket, ...others }
        const assume: Bucket['assume'] = async (key, known) => ofSize(await find(key, known), known)
        return { ...bucket, find, assume, ...others }
      },
    },
  })
}

/** Replaces an original by 0 bytes, and the size in its index record. Uploads of 0 bytes are refused, but a bucket may have one. */
export async function emptied({ storage }: Service, { s3PathOriginal }: WireRecord): Promise<void> {
  const bucket = storage.buckets.of({ id: FIRST_CLIENT_ID, token: '' })
  const key = storedKey(s3PathOriginal)
  await bucket.put(key, Readable.from([]), { mediaType: 'application/octet-stream' })
  const { original } = await storage.index.find({ clientId: FIRST_CLIENT_ID, key })
  if (original?.state !== 'stored') throw new Error(`${key} is not stored`)
  await storage.index.amend(FIRST_CLIENT_ID, original.record, { ...original.record, size: 0 })
}
