import { throttled } from '../../core/async/throttle-log.ts'
import { type Client, FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import { type ClientStorage, sealedPlace } from '../../core/clients/client-storage.ts'
import { encodedPath } from '../../core/files/object-key.ts'
import type { Log } from '../../core/log.ts'
import { isMetadataAddress } from '../../core/net/ip-ranges.ts'
import type { Bucket, Buckets } from '../../core/ports/bucket.ts'
import { unavailable } from '../../core/problem.ts'
import { unseal } from '../../core/signing/seal.ts'

// Idle connections are closed, so a forgotten entry keeps no resources.
const OPEN_AT_MOST = 200

type Owner = Pick<Client, 'id'> & { storage: ClientStorage }

/**
 * The common buckets of the installation, and the own buckets of clients. A failure of an own bucket, or of its
 * credentials, affects only its client: each own bucket has its own connections and its own time limits.
 *
 * @param options.key the key that seals the secrets
 * @param options.silenceMs how long an own bucket may be silent, as in `S3ConnectionOptions`
 */
export function withOwnBuckets(
  common: Buckets,
  { key, log, silenceMs }: { key: Buffer; log: Log; silenceMs?: number },
): Buckets {
  const opened = new Map<string, Promise<Buckets>>()
  const warnings = new Map<string, (error: Error) => void>()

  function secretOf({ id, storage }: Owner): string {
    try {
      return unseal(storage.sealedSecret, { key, place: sealedPlace(id) })
    } catch (cause) {
      const warn = warnings.get(id) ?? throttled((err) => log.error({ err, client: id }, UNREADABLE))
      warnings.set(id, warn)
      warn(cause as Error)
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
    // Loaded on first use, since the SDK takes 25 MB of memory.
    const { s3Buckets } = await import('./s3/s3.ts')
    return s3Buckets({
      endpoint,
      region,
      bucket,
      prefix,
      forcePathStyle,
      publicUrl,
      credentials,
      silenceMs,
      isRefused: isMetadataAddress,
    })
  }

  /** One instance per client and settings. Changed settings open a new one. */
  function bucketsOf(owner: Owner): Promise<Buckets> {
    const name = JSON.stringify([owner.id, owner.storage])
    const buckets = opened.get(name) ?? open(owner)
    // Move the entry to the end: the least recently used one is the first in the map.
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
        ? lazyBucket(storage, async () => (await bucketsOf({ id, storage })).of(WHOLE_BUCKET))
        : common.of(client)
    },
    ping: () => common.ping(),
    async sweep(olderThanMs, { clients = [], ...options } = {}) {
      let removed = 0
      for (const { id, storage } of clients) {
        if (!storage) continue
        try {
          removed += await (await bucketsOf({ id, storage })).sweep(olderThanMs, options)
        } catch (err) {
          log.warn({ err, client: id }, "sweep of a client's own bucket failed; the next sweep retries")
        }
      }
      return removed + (await common.sweep(olderThanMs, options))
    },
  }
}

const UNREADABLE =
  "the secret key of this client's bucket cannot be decrypted: APP_SECRET has changed. Restore APP_SECRET, or set the key again with sluice client storage"

// In its own bucket, a client uses the root of the first client, because no other client shares the bucket.
const WHOLE_BUCKET = { id: FIRST_CLIENT_ID, token: '' }

/** A bucket that is opened by its first operation. Until then only its address is known. */
function lazyBucket({ address, publicUrl, prefix }: ClientStorage, open: () => Promise<Bucket>): Bucket {
  return {
    urlOf: (key) => `${publicUrl ?? address}/${encodedPath(`${prefix}${key}`)}`,
    find: async (key, known) => (await open()).find(key, known),
    assume: async (key, known) => (await open()).assume(key, known),
    async put(key, bytes, options) {
      const bucket = await open().catch((error) => {
        bytes.destroy()
        throw error
      })
      await bucket.put(key, bytes, options)
    },
    copy: async (from, to, options) => (await open()).copy(from, to, options),
    async delete(keys) {
      return (await open()).delete(keys)
    },
    async *list(prefix, options) {
      yield* (await open()).list(prefix, options)
    },
    async *listObjects(prefix, options) {
      yield* (await open()).listObjects(prefix, options)
    },
    abortPuts: async (prefix) => (await open()).abortPuts(prefix),
  }
}
