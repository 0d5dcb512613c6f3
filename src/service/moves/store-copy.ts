import { keepRenewed } from '../../core/async/keep-renewed.ts'
import type { Client } from '../../core/clients/client.ts'
import type { OriginalName } from '../../core/files/object-key.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { OriginalIndex, OriginalRecord } from '../../core/ports/file-index.ts'
import { fileNotFound, unavailable } from '../../core/problem.ts'
import { unauthorized } from '../clients/access.ts'
import type { Removals } from '../originals/delete.ts'
import type { FoundOriginal, Originals } from '../originals/originals.ts'
import type { Records } from '../originals/records.ts'
import type { ScanQueue } from '../scans/scan-queue.ts'
import { fileExists } from './target.ts'

/** Stores the record of a copy, which completes it. @throws Problem 503 */
export type Commit = (record: OriginalRecord, signal: AbortSignal) => Promise<void>

/**
 * Stores a copy of an original: notes it as `pending`, copies the bytes, then calls `work`, which calls `commit` with the record. After
 * an error before the commit, nothing of the copy remains.
 *
 * @throws Problem 404 when the source has been deleted, 409 when the target is not free, 503; the errors of `work`
 */
export type StoreCopy = <T>(
  request: { client: Client; source: FoundOriginal; name: OriginalName; signal: AbortSignal },
  work: (commit: Commit) => Promise<T>,
) => Promise<T>

const LEASE_MS = 60_000

export function createStoreCopy({
  index,
  buckets,
  originals,
  records,
  removals,
  scans,
  admits,
  now,
}: {
  index: OriginalIndex
  buckets: Buckets
  originals: Originals
  records: Records
  removals: Removals
  scans: Pick<ScanQueue, 'resume'>
  /** Whether a client may still store files: it may be removed in the meantime. */
  admits: (client: Client) => Promise<boolean>
  now: () => number
}): StoreCopy {
  /** Notes the copy as `pending`. A new id is always free, a retained one may not be. */
  async function begin(client: Client, source: OriginalName, name: OriginalName): Promise<void> {
    const ref = { clientId: client.id, key: name.key }
    const retainsId = name.sourceName === source.sourceName
    // The index may have lost the file. Then this indexes it.
    if (retainsId) await originals.resolve(client, { full: name })
    if (retainsId && (await index.find(ref)).original) throw fileExists()
    try {
      await index.beginUpload(ref, now() + LEASE_MS)
    } catch (error) {
      if (retainsId && (await index.find(ref)).original) throw fileExists()
      throw error
    }
  }

  return async ({ client, source, name, signal }, work) => {
    await begin(client, source.name, name)
    const ref = { clientId: client.id, key: name.key }
    const begun = { key: name.key, mayLand: false }
    /** A store that does not respond may still execute the request. */
    const landing = async <T>(step: Promise<T>): Promise<T> => {
      begun.mayLand = true
      const result = await step
      begun.mayLand = false
      return result
    }
    const endRenewals = keepRenewed(LEASE_MS, () => index.renewUpload([ref], now() + LEASE_MS))
    try {
      const { mediaType } = source.record
      const bucket = buckets.of(client)
      const isCopied = await landing(bucket.copy(source.name.key, name.key, { mediaType, signal }))
      if (!isCopied) throw fileNotFound()
      return await work(async (record, held) => {
        // Before the record is stored, as for an upload.
        await scans.resume(client, record)
        const recordTag = await landing(records.put(client, record, { signal: held }))
        if (!(await admits(client)))
          throw unauthorized('but its client was removed during the copy; nothing was stored')
        const recordTags = recordTag === undefined ? undefined : new Map([[record.key, recordTag]])
        if (!(await index.finishUpload(client.id, [record], recordTags)))
          throw unavailable('The copy took too long to finish. Repeat the request.')
      })
    } catch (error) {
      // Does nothing after the commit.
      await removals.abandon(client, [begun])
      throw error
    } finally {
      endRenewals()
    }
  }
}
