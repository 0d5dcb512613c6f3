import type { CachedProbe } from '../../core/bytes/asset.ts'
import type { Log } from '../../core/log.ts'
import type { OriginalIndex, OriginalRecord } from '../../core/ports/file-index.ts'

/** Caches the facts of an original's headers in its index record. A failed write is only logged: the file is probed again. */
export function cachedProbe(
  record: OriginalRecord,
  { clientId, index, log }: { clientId: string; index: OriginalIndex; log: Log },
): CachedProbe {
  return {
    text: record.probe,
    async keep(probe) {
      await index
        .amend(clientId, record, { ...record, probe })
        .catch((cause) => log.warn({ err: cause, key: record.key }, 'a probe could not be cached'))
    },
  }
}
