import { deferred } from '../../core/async/deferred.ts'
import type { FileRef } from '../../core/files/file-ref.ts'

/** Derivatives of this process that were sent to their callers and are still being stored. */
export interface PendingStores {
  /** Registers a derivative of this original. @returns a function to call when it is stored, or has failed to be stored */
  begin(original: FileRef): () => void
  /**
   * Resolves when those of this original have ended, or after a second. A delete waits for them, so that `derivative.stored` is
   * emitted before `original.deleted`, which names them.
   */
  ended(original: FileRef): Promise<void>
}

// Storing takes milliseconds on a disk, and less than this on S3. A delete does not wait longer for slow storage.
const WAIT_MS = 1000

export function createPendingStores({ waitMs = WAIT_MS }: { waitMs?: number } = {}): PendingStores {
  const underWay = new Map<string, Set<Promise<void>>>()
  const nameOf = ({ clientId, key }: FileRef) => `${clientId} ${key}`
  return {
    begin(original) {
      const name = nameOf(original)
      const all = underWay.get(name) ?? new Set()
      underWay.set(name, all)
      const one = deferred<void>()
      all.add(one.promise)
      return () => {
        all.delete(one.promise)
        if (all.size === 0) underWay.delete(name)
        one.resolve()
      }
    },
    async ended(original) {
      const all = underWay.get(nameOf(original))
      if (!all) return
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, waitMs)
      })
      await Promise.race([Promise.all(all), late])
      clearTimeout(timer)
    },
  }
}
