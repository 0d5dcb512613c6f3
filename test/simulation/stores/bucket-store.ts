import { type Asset, assetFromBytes } from '../../../src/core/bytes/asset.ts'
import type { ObjectKey } from '../../../src/core/files/object-key.ts'
import {
  type Bucket,
  type Buckets,
  type ListOptions,
  ofSize,
  type PutOptions,
} from '../../../src/core/ports/bucket.ts'
import { fileNotFound, fileReplaced } from '../../../src/core/problem.ts'
import type { World } from '../world/world.ts'

interface StoredObject {
  bytes: Buffer
  mediaType: string
  at: number
  tag: string
  /** The time of the world. */
  time: number
}

/** Objects of all clients, as in S3: each put is all or nothing, and visible at once. */
export interface BucketStore {
  buckets: Buckets
  objects: ReadonlyMap<string, StoredObject>
}

const PAGE = 7

export function bucketStore(world: World): BucketStore {
  const objects = new Map<string, StoredObject>()
  let tags = 0

  function bucketOf(clientId: string): Bucket {
    const nameOf = (key: string) => `${clientId}/${key}`

    function assetOf(key: ObjectKey, { bytes, mediaType, at, tag }: StoredObject): Asset {
      const asset = assetFromBytes(bytes, { mediaType, lastModified: new Date(at) })
      return {
        ...asset,
        tag,
        etag: tag,
        open: (options = {}) =>
          world.request(`bucket.get ${key}`, () => {
            options.signal?.throwIfAborted()
            const now = objects.get(nameOf(key))
            if (!now) throw fileNotFound()
            if (options.range && now.tag !== tag) throw fileReplaced()
            return assetFromBytes(now.bytes, asset).open(options)
          }),
      }
    }

    function store(key: ObjectKey, { bytes, mediaType }: Pick<StoredObject, 'bytes' | 'mediaType'>): string {
      tags += 1
      const tag = `tag${tags}`
      objects.set(nameOf(key), { bytes, mediaType, at: Date.now(), tag, time: world.time })
      return tag
    }

    const find = (key: ObjectKey) =>
      world.request(`bucket.find ${key}`, () => {
        const found = objects.get(nameOf(key))
        return found && assetOf(key, found)
      })

    async function* listObjects(prefix: string, { after = '' }: ListOptions = {}) {
      for (let from = after, isLast = false; !isLast; ) {
        const page = await world.request(`bucket.list ${prefix}`, () =>
          [...objects.keys()]
            .filter((name) => name.startsWith(nameOf(prefix)) && name.slice(clientId.length + 1) > from)
            .sort()
            .slice(0, PAGE)
            .map((name) => {
              const { bytes, tag } = objects.get(name) as StoredObject
              return { key: name.slice(clientId.length + 1) as ObjectKey, size: bytes.length, tag }
            }),
        )
        yield* page
        isLast = page.length < PAGE
        from = page.at(-1)?.key ?? from
      }
    }

    async function put(
      key: ObjectKey,
      bytes: Parameters<Bucket['put']>[1],
      { mediaType, signal, tagged }: PutOptions,
    ) {
      // Not `buffer` of `node:stream/consumers`, which waits for another thread.
      const chunks: Uint8Array[] = []
      for await (const chunk of bytes) chunks.push(chunk)
      const all = Buffer.concat(chunks)
      signal?.throwIfAborted()
      const tag = await world.request(`bucket.put ${key}`, () => store(key, { bytes: all, mediaType }))
      tagged?.(tag)
    }

    return {
      find,
      async assume(key, known) {
        return ofSize(await find(key), known)
      },
      put,
      async copy(from, to, { mediaType }) {
        return world.request(`bucket.copy ${from}`, () => {
          const source = objects.get(nameOf(from))
          if (source) store(to, { bytes: source.bytes, mediaType })
          return source !== undefined
        })
      },
      async delete(keys) {
        const remove = (key: ObjectKey) =>
          world.request(`bucket.delete ${key}`, () => void objects.delete(nameOf(key)))
        const results = await Promise.allSettled(keys.map(remove))
        return {
          failed: results.flatMap((one, i) =>
            one.status === 'rejected' ? [{ key: keys[i] as ObjectKey, error: one.reason }] : [],
          ),
        }
      },
      listObjects,
      async *list(prefix, options) {
        for await (const { key } of listObjects(prefix, options)) yield key
      },
      abortPuts: async () => {},
      urlOf: (key) => `s3://bucket/${nameOf(key)}`,
    }
  }

  const all = new Map<string, Bucket>()
  return {
    objects,
    buckets: {
      of({ id }) {
        const bucket = all.get(id) ?? bucketOf(id)
        all.set(id, bucket)
        return bucket
      },
      ping: async () => {},
      sweep: async () => 0,
    },
  }
}
