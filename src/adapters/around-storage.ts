import type { Asset } from '../core/bytes/asset.ts'
import type { Bucket, Buckets } from '../core/ports/bucket.ts'
import type { FileIndex } from '../core/ports/file-index.ts'

/** Makes one call of a store, and observes it. It returns what the call returns. */
export type Around = <T>(operation: string, call: () => T) => T

/** Wraps the storage: each call is made by the function of its store, the opening of a file (`open`) too. */
export function aroundStorage(
  { buckets, index }: { buckets: Buckets; index: FileIndex },
  around: Record<'bucket' | 'index', Around>,
): { buckets: Buckets; index: FileIndex } {
  const bucket = (inner: Bucket): Bucket => {
    const all = wrapped(inner, around.bucket)
    const opened = (asset: Asset | undefined) => asset && opening(asset, around.bucket)
    return {
      ...all,
      find: async (...args) => opened(await all.find(...args)),
      assume: async (...args) => opened(await all.assume(...args)),
    }
  }
  return {
    buckets: { ...wrapped(buckets, around.bucket), of: (client) => bucket(buckets.of(client)) },
    index: wrapped(index, around.index),
  }
}

function opening(asset: Asset, around: Around): Asset {
  return { ...asset, open: (options) => around('open', () => asset.open(options)) }
}

/** Wraps each method of an adapter. Its other members remain as they are. */
function wrapped<T extends object>(inner: T, around: Around): T {
  const members = Object.entries(inner).map(([name, member]) => [
    name,
    typeof member === 'function' ? (...args: unknown[]) => around(name, () => member(...args)) : member,
  ])
  return Object.fromEntries(members)
}
