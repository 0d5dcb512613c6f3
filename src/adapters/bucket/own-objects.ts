import type { ObjectKey } from '../../core/files/object-key.ts'
import type { IsForeign } from '../../core/foreign/foreign-path.ts'
import type { Bucket, Buckets } from '../../core/ports/bucket.ts'
import { badPath } from '../../core/problem.ts'

/**
 * The buckets without the objects of other systems: these are not found, listed or deleted, and nothing is stored next to them. So
 * no delete, check or removal of a client can change them, even if their names look like names of originals.
 */
export function ownObjects(buckets: Buckets, isForeign: IsForeign): Buckets {
  return {
    ...buckets,
    of: (client: Parameters<Buckets['of']>[0]) => ownBucket(buckets.of(client), isForeign),
  }
}

function ownBucket(bucket: Bucket, isForeign: IsForeign): Bucket {
  const refuse = (key: ObjectKey) => {
    if (isForeign(key))
      throw badPath({ param: 'path', expected: 'outside of the folders of FOREIGN_PREFIXES', received: key })
  }
  return {
    ...bucket,
    find: async (key, known) => (isForeign(key) ? undefined : bucket.find(key, known)),
    assume: async (key, known) => (isForeign(key) ? undefined : bucket.assume(key, known)),
    async put(key, bytes, options) {
      try {
        refuse(key)
      } catch (error) {
        bytes.destroy()
        throw error
      }
      await bucket.put(key, bytes, options)
    },
    async copy(from, to, options) {
      refuse(to)
      return !isForeign(from) && bucket.copy(from, to, options)
    },
    ...copyingFromFirst(bucket, refuse),
    delete: (keys) => bucket.delete(keys.filter((key) => !isForeign(key))),
    async *list(prefix, options) {
      for await (const key of bucket.list(prefix, options)) if (!isForeign(key)) yield key
    },
    async *listObjects(prefix, options) {
      let skipped = ''
      for (let after = options?.after ?? ''; ; after = pastFolder(skipped)) {
        let next: string | undefined
        for await (const object of bucket.listObjects(prefix, { ...options, after })) {
          if (!isForeign(object.key)) {
            yield object
            continue
          }
          // These may be millions.
          const folder = foreignFolder(object.key, isForeign)
          if (folder === skipped) continue
          skipped = next = folder
          break
        }
        if (next === undefined) return
      }
    },
  }
}

/** The folder of FOREIGN_PREFIXES that has the object. */
function foreignFolder(key: ObjectKey, isForeign: IsForeign): string {
  let end = key.indexOf('/') + 1
  while (end > 0 && !isForeign(key.slice(0, end))) end = key.indexOf('/', end) + 1
  return key.slice(0, end)
}

/** A key that comes after nearly all of a folder, and before all that follows it. */
function pastFolder(folder: string): string {
  return `${folder}\u{10fffd}`
}

function copyingFromFirst(
  { copyFromFirst }: Bucket,
  refuse: (key: ObjectKey) => void,
): Pick<Bucket, 'copyFromFirst'> {
  if (!copyFromFirst) return {}
  return {
    async copyFromFirst(from, to, options) {
      refuse(to)
      return copyFromFirst(from, to, options)
    },
  }
}
