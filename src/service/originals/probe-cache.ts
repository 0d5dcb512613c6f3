import type { CachedProbe } from '../../core/bytes/asset.ts'
import type { Log } from '../../core/log.ts'
import type { OriginalIndex, OriginalRecord } from '../../core/ports/file-index.ts'

/** The place for what the headers of a client's original say: its record in the index. Should it not be kept, nothing is lost. */
export function keptProbe(
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
