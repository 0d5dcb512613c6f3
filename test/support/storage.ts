import type { Storage } from '../../src/app.ts'
import type { Client } from '../../src/core/client.ts'
import type { Bucket } from '../../src/core/ports/bucket.ts'

/** A `wrapStorage` under which every client's bucket does what `change` says, and all else as before. */
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
