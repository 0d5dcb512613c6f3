import { HeadObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import type { Asset } from '../../../core/bytes/asset.ts'
import { FIRST_CLIENT_ID } from '../../../core/clients/client.ts'
import { encodedPath, type ObjectKey } from '../../../core/files/object-key.ts'
import { SNIFF_BYTES } from '../../../core/media/sniff/sniff.ts'
import type { Bucket, Buckets, ListOptions } from '../../../core/ports/bucket.ts'
import { unlessStatus } from '../../../core/problem.ts'
import { mediaTypeOf, UNKNOWN_MEDIA_TYPE } from '../media-type.ts'
import { bucketAddress, type S3Clients, type S3ConnectionOptions, s3Clients } from './client.ts'
import { copyObject } from './copy.ts'
import { deleteNames } from './delete.ts'
import { download } from './download.ts'
import { listObjects, tagOf } from './list.ts'
import { joinParts, partsOf, permitPut } from './presigned/direct.ts'
import { objectUrl } from './presigned/object-url.ts'
import { normalPrefix, type Root, rootOf } from './root.ts'
import { abortUploads } from './sweep.ts'
import { upload } from './upload.ts'

/** Settings of one bucket of S3. */
export interface S3BucketOptions extends S3ConnectionOptions {
  bucket: string
  /** The root of the first client, see {@link rootOf}. Slashes at both ends are optional. Empty for the whole bucket. */
  prefix: string
  /** The public URL of the bucket, `https://cdn.example`, when it differs from its address in S3. */
  publicUrl?: string | undefined
}

/**
 * Buckets as prefixes of one S3 bucket. Other programs may use the bucket too: objects whose names are not our keys are
 * ignored. The credentials need the rights to list the bucket (without it, S3 returns 403 for a missing object), to read, put and
 * delete objects, and to list and abort multipart uploads.
 *
 * @throws Error of the SDK when it finds no region, or the name of the bucket is invalid
 */
export async function s3Buckets(options: S3BucketOptions): Promise<Buckets> {
  const { bucket } = options
  const prefix = normalPrefix(options.prefix)
  const address = await bucketAddress(bucket, options)
  const publicUrl = options.publicUrl?.replace(/\/+$/, '') ?? address
  const clients = s3Clients(options)
  return {
    of: ({ id }) =>
      s3Bucket(clients, {
        bucket,
        prefix,
        publicUrl,
        isPublic: options.publicUrl !== undefined,
        isReachable: options.directEndpoint !== undefined || isAmazon(address),
        root: rootOf(id, prefix),
      }),

    async ping() {
      // Not HeadBucket: its response has no body that would name the error.
      const command = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 })
      await clients.patience.responseOf((abortSignal) => clients.calls.send(command, { abortSignal }))
    },

    sweep: (olderThanMs, { continues } = {}) =>
      abortUploads(clients, { bucket, prefix, olderThanMs, continues }),
  }
}

function s3Bucket(
  clients: S3Clients,
  {
    bucket,
    prefix,
    publicUrl,
    isPublic,
    isReachable,
    root,
  }: {
    bucket: string
    prefix: string
    publicUrl: string
    /** Whether objects can be read at `publicUrl` without a signature. */
    isPublic: boolean
    isReachable: boolean
    root: Root
  },
): Bucket {
  const { calls, patience } = clients
  const urlOf: Bucket['urlOf'] = (key) => `${publicUrl}/${encodedPath(root.nameOf(key))}`
  async function* listed(begin: string, { after }: ListOptions = {}) {
    const { excluded } = root
    const from = after ? { StartAfter: root.prefix + after } : {}
    for await (const object of listObjects(clients, {
      bucket,
      prefix: root.prefix + begin,
      excluded,
      from,
    })) {
      const key = root.keyOf(object.Key)
      if (key !== undefined) yield { key, object }
    }
  }

  return {
    urlOf,
    isReachable,

    async find(key, known) {
      const name = root.nameOf(key)
      const command = new HeadObjectCommand({ Bucket: bucket, Key: name })
      const head = await unlessStatus(
        404,
        patience.responseOf((abortSignal) => calls.send(command, { abortSignal })),
      )
      if (!head) return undefined
      const { ContentLength: size = 0, ContentType: stated = UNKNOWN_MEDIA_TYPE, ETag: etag } = head
      const start = () => startOf(clients, { bucket, name, etag, size })
      return {
        size,
        mediaType: known?.mediaType ?? (await mediaTypeOf(key, start, stated)),
        lastModified: head.LastModified ?? new Date(0),
        ...(etag === undefined ? {} : { etag }),
        ...tagged(etag),
        open: (options) => download(clients, { bucket, name, etag, ...options }),
        urlFor: objectUrl(clients, { bucket, name, publicUrl: isPublic ? urlOf(key) : undefined }),
      }
    },

    async assume(key, { mediaType, size, lastModified }) {
      const name = root.nameOf(key)
      const open: Asset['open'] = (options) => download(clients, { bucket, name, size, ...options })
      return { mediaType, size, lastModified, open }
    },

    put: async (key, bytes, options) =>
      upload(clients, { bucket, name: root.nameOf(key), bytes, ...options }),

    copy: (from, to, options) =>
      copyObject(clients, { bucket, from: root.nameOf(from), to: root.nameOf(to), ...options }),

    permitPut: (key, options) => permitPut(clients, { bucket, name: root.nameOf(key), ...options }),

    partsOf: (key, uploadId) => partsOf(clients, { bucket, name: root.nameOf(key), uploadId }),

    joinParts: (key, uploadId, parts) =>
      joinParts(clients, { bucket, name: root.nameOf(key), uploadId, parts }),

    copyFromFirst(from, to, options) {
      const source = rootOf(FIRST_CLIENT_ID, prefix).nameOf(from)
      return copyObject(clients, { bucket, from: source, to: root.nameOf(to), ...options })
    },

    async delete(keys) {
      const named = new Map(keys.map((key) => [root.nameOf(key), key]))
      const failed = await deleteNames(clients, { bucket, names: [...named.keys()] })
      return { failed: [...failed].map(([name, error]) => ({ key: named.get(name) as ObjectKey, error })) }
    },

    async abortPuts(begin) {
      // -Infinity: of any age, even when the clock of S3 is ahead of ours.
      const within = root.prefix + begin
      await abortUploads(clients, { bucket, prefix, within, olderThanMs: -Infinity })
    },

    async *list(begin, options) {
      for await (const { key } of listed(begin, options)) yield key
    },

    async *listObjects(begin, options) {
      for await (const { key, object } of listed(begin, options))
        yield { key, size: object.Size ?? 0, ...tagged(object.ETag) }
    },
  }
}

function tagged(etag: string | undefined): { tag?: string } {
  const tag = tagOf(etag)
  return tag === undefined ? {} : { tag }
}

/** Whether a store is Amazon's, which every network can reach. Its endpoints within a private network cannot be reached by all. */
function isAmazon(address: string): boolean {
  const { hostname } = new URL(address)
  return /\.amazonaws\.com(\.cn)?$/.test(hostname) && !hostname.includes('.vpce.')
}

/** The first bytes of an object. Undefined when it does not exist. @throws Problem 503 */
async function startOf(
  clients: S3Clients,
  { size, ...object }: { bucket: string; name: string; etag: string | undefined; size: number },
): Promise<Buffer | undefined> {
  if (size === 0) return Buffer.alloc(0)
  const range = { start: 0, end: Math.min(size, SNIFF_BYTES) - 1 }
  const bytes = await unlessStatus(404, download(clients, { ...object, range }))
  return bytes && Buffer.concat(await bytes.toArray())
}
