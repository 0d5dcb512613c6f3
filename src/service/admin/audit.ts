import { throttled } from '../../core/async/throttle-log.ts'
import type { Log } from '../../core/log.ts'
import type { AuditLog, AuditQuery, AuditStore, StoredEntry } from '../../core/ports/audit-log.ts'

/** The audit log, and what it contains. */
export interface AuditTrail extends AuditLog {
  /**
   * The latest entries first. It has all entries that this process has added.
   * @throws Problem 503
   */
  list(query: AuditQuery): Promise<StoredEntry[]>
}

/** Each entry is also a line of the log, so that it outlives the store. */
export function createAuditTrail({
  store,
  log,
  now = Date.now,
}: {
  store: AuditStore
  log: Log
  now?: () => number
}): AuditTrail {
  const warn = throttled((err) =>
    log.warn({ err }, 'audit log unavailable; its entries are only in this log'),
  )
  const writing = new Set<Promise<void>>()
  return {
    add(entry) {
      log.info({ ...entry }, 'audit')
      const written = store
        .append({ ...entry, at: now() })
        .catch(warn)
        .finally(() => writing.delete(written))
      writing.add(written)
    },
    async list(query) {
      await Promise.all(writing)
      return store.list(query)
    },
  }
}
