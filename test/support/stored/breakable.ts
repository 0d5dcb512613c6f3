import type { Readable } from 'node:stream'
import type { Storage } from '../../../src/app.ts'
import type { Asset } from '../../../src/core/bytes/asset.ts'
import { wrapBuckets } from '../storage.ts'

/** Storage whose originals of a given size can fail when they are opened, and that counts what is open. */
export function breakable(): {
  wrapStorage: (storage: Storage) => Storage
  /** Files of `size` bytes give this from now on. */
  breaks(size: number, how: (asset: Asset, bytes: Readable) => Readable): void
  mend(): void
  /** Streams of originals that are open now. */
  readonly open: number
  /** Those that were ever opened. */
  readonly opened: number
  /** Those that were closed before their end, without an abort: as a source is whose reader is idle for too long. */
  readonly idled: number
} {
  const broken = new Map<number, (asset: Asset, bytes: Readable) => Readable>()
  let open = 0
  let opened = 0
  const unfinished: Array<AbortSignal | undefined> = []
  const wrap = (asset: Asset): Asset => ({
    ...asset,
    async open(options) {
      const bytes = await asset.open(options)
      open += 1
      opened += 1
      bytes.once('close', () => {
        open -= 1
        if (!bytes.readableEnded) unfinished.push(options?.signal)
      })
      return broken.get(asset.size)?.(asset, bytes) ?? bytes
    },
  })
  return {
    wrapStorage: wrapBuckets((bucket) => ({
      find: async (key, known) => {
        const asset = await bucket.find(key, known)
        return asset && wrap(asset)
      },
    })),
    breaks: (size, how) => broken.set(size, how),
    mend: () => broken.clear(),
    get open() {
      return open
    },
    get opened() {
      return opened
    },
    get idled() {
      return unfinished.filter((signal) => !signal?.aborted).length
    },
  }
}
