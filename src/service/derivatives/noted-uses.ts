import { boundedCache } from '../../core/budgets/bounded-cache.ts'
import type { FileRef } from '../../core/files/file-ref.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import type { Log } from '../../core/log.ts'
import type { DerivativeIndex } from '../../core/ports/file-index.ts'

/** Notes the last use of derivatives, in the index at most once in an hour for each of them. */
export interface NotedUses {
  /** Returns at once. A use that cannot be written is lost. */
  note(ref: FileRef, derivative: ObjectKey, options: { isHeld: boolean }): void
}

// On Redis, all processes forget the responses that they have of the file with each use that is noted.
const EVERY_MS = 3_600_000
// About 10,000 names. The use of one that was removed is noted again.
const REMEMBERED_BYTES = 5_000_000

export function createNotedUses({
  index,
  log,
  now = Date.now,
}: {
  index: Pick<DerivativeIndex, 'noteUse'>
  log: Log
  now?: () => number
}): NotedUses {
  const notedAt = boundedCache<number>({ maxBytes: REMEMBERED_BYTES })
  return {
    note(ref, derivative, { isHeld }) {
      const at = now()
      const name = `${ref.clientId} ${isHeld ? 'held' : ''} ${derivative}`
      if (at - (notedAt.get(name) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return
      notedAt.set(name, at)
      index
        .noteUse(ref, derivative, { at, isHeld })
        .catch((err) => log.debug({ err, key: derivative }, 'the use of a derivative could not be noted'))
    },
  }
}
