import { itemsOf } from '../files/pages.ts'
import type { AuditEntries, AuditEntry } from '../generated/api.ts'
import type { Api, CallOptions } from '../http/request.ts'

/** Which entries a list has. */
export interface AuditListOptions extends CallOptions {
  /** Only changes of this client, by ID. */
  client?: string
  /** Only changes by this member, by ID. */
  member?: string
  /** Entries per page, from 1 to 1000. Default: 100. */
  limit?: number
}

/** The changes by people, for the operator. All calls reject with a {@link SluiceError}. */
export interface Audit {
  /** All entries, the latest first, page by page as they are needed. */
  list(options?: AuditListOptions): AsyncIterableIterator<AuditEntry>
  /** Returns one page of the list. `next` is the cursor of the next one. */
  page(options?: AuditListOptions & { cursor?: string | undefined }): Promise<AuditEntries>
}

/** Creates the calls for the audit log. */
export function createAudit(api: Api): Audit {
  const page: Audit['page'] = ({ signal, ...query } = {}) => api.json({ path: '/v1/audit', query, signal })
  return {
    list: (options = {}) =>
      itemsOf(async (cursor) => {
        const { entries, next = null } = await page({ ...options, cursor })
        return { items: entries, cursor: next }
      }),
    page,
  }
}
