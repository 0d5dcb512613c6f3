import { throttled } from '../../core/async/throttle-log.ts'
import { type Client, FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import { type ClientStorage, sealedPlace } from '../../core/clients/client-storage.ts'
import { encodedPath } from '../../core/files/object-key.ts'
import type { Log } from '../../core/log.ts'
import { isMetadataAddress } from '../../core/net/ip-ranges.ts'
import type { Bucket, Buckets } from '../../core/ports/bucket.ts'
import { unavailable } from '../../core/problem.ts'
import { unseal } from '../../core/signing/seal.ts'

// Connections are closed when they are idle, so that what is forgotten here costs nothing.
const OPEN_AT_MOST = 200

type Owner = Pick<Client, 'id'> & { storage: ClientStorage }

/**
 * The buckets of an installation, and those that clients have of their own. One that is away, or whose secret cannot be
 * read, is so for its client alone: it has connections and patience of its own, and nobody else asks it anything.
 *
 * @param key that the secrets are sealed with
 */
export function withOwnBuckets(common: Buckets, { key, log }: { key: Buffer; log: Log }): Buckets {
  const opened = new Map<string, Promise<Buckets>>()
  const tellers = new Map<string, (error: Error) => void>()

  function secretOf({ id, storage }: Owner): string {
    try {
      return unseal(storage.sealedSecret, { key, place: sealedPlace(id) })
    } catch (cause) {
      const tell = tellers.get(id) ?? throttled((err) => log.error({ err, client: id }, UNREADABLE))
      tellers.set(id, tell)
      tell(cause as Error)
      throw unavailable(
        "The credentials of this client's bucket cannot be decrypted. The operator must set them again.",
        {
          cause,
          retryAfterSeconds: 60,
        },
      )
    }
  }

  async function open(owner: Owner): Promise<Buckets> {
    const { accessKeyId, endpoint, region, bucket, prefix, forcePathStyle, publicUrl } = owner.storage
    const credentials = { accessKeyId, secretAccessKey: secretOf(owner) }
    // Loaded where it is asked for: 25 MB of memory.
    const { s3Buckets } = await import('./s3/s3.ts')
    return s3Buckets({
      endpoint,
      region,
      bucket,
      prefix,
      forcePathStyle,
      publicUrl,
      credentials,
      isRefused: isMetadataAddress,
    })
  }

  /** Opened once for each setting of an owner: changed settings open new buckets. */
  function bucketsOf(owner: Owner): Promise<Buckets> {
    const name = JSON.stringify([owner.id, owner.storage])
    const buckets = opened.get(name) ?? open(owner)
    // The one that was used last is the last to be forgotten.
    opened.delete(name)
    opened.set(name, buckets)
    buckets.catch(() => opened.delete(name))
    const [oldest] = opened.keys()
    if (opened.size > OPEN_AT_MOST && oldest !== undefined) opened.delete(oldest)
    return buckets
  }

  return {
    of(client) {
      const { id, storage } = client
      return storage
        ? openedLater(storage, async () => (await bucketsOf({ id, storage })).of(ALL_OF_IT))
        : common.of(client)
    },
    ping: () => common.ping(),
    async sweep(olderThanMs, clients = []) {
      let removed = 0
      for (const { id, storage } of clients) {
        if (!storage) continue
        try {
          removed += await (await bucketsOf({ id, storage })).sweep(olderThanMs)
        } catch (err) {
          log.warn({ err, client: id }, "sweep of a client's own bucket failed; the next sweep retries")
        }
      }
      return removed + (await common.sweep(olderThanMs))
    },
  }
}

const UNREADABLE =
  "the secret key of this client's bucket cannot be decrypted: APP_SECRET has changed. Restore APP_SECRET, or set the key again with sluice client storage"

// In a bucket of its own a client is what the first one is in the installation's: nobody else's root is around or in it.
const ALL_OF_IT = { id: FIRST_CLIENT_ID, token: '' }

/** A bucket of which nothing is known but its address until it is asked for something. */
function openedLater({ address, publicUrl, prefix }: ClientStorage, open: () => Promise<Bucket>): Bucket {
  return {
    urlOf: (key) => `${publicUrl ?? address}/${encodedPath(`${prefix}${key}`)}`,
    find: async (key, known) => (await open()).find(key, known),
    async put(key, bytes, options) {
      const bucket = await open().catch((error) => {
        bytes.destroy()
        throw error
      })
      await bucket.put(key, bytes, options)
    },
    async delete(keys) {
      return (await open()).delete(keys)
    },
    async *list(prefix) {
      yield* (await open()).list(prefix)
    },
    abortPuts: async (prefix) => (await open()).abortPuts(prefix),
  }
}
