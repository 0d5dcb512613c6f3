import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import type { OriginalRecord } from '../../core/ports/file-index.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import { fileInfected, notScanned } from '../../core/storage/scan.ts'

/** Queues malware scans, and refuses files that were not found clean. `scans.ts` runs the scans. */
export interface ScanQueue {
  /**
   * Called before the records of new originals are stored. Marks the records as waiting and queues their scans, so that a crash at any
   * moment leaves no file that is stored without either. Without a scanner, the records are unchanged.
   *
   * @throws Problem 503 when the queue is unavailable
   */
  begin(client: Client, records: readonly OriginalRecord[]): Promise<OriginalRecord[]>
  /**
   * Queues the scan of an original that is waiting, unless it is queued: its file is a copy, was restored, or was found in the bucket
   * after the queue was lost. Does nothing for other originals, and without a scanner.
   *
   * @throws Problem 503 when the queue is unavailable
   */
  resume(client: Client, record: OriginalRecord): Promise<void>
  /**
   * Refuses a file whose scan has not found it clean. Every delivery calls this. The record decides, so a file that is waiting is not delivered after the scanner
   * was uninstalled either.
   *
   * @throws Problem 423 `file_not_scanned`, 403 `file_infected`
   */
  check(client: Client, record: Pick<OriginalRecord, 'key' | 'scan'>): void
}

export const SCAN_KIND = 'scan'

/** The data of a queued scan. */
export interface QueuedScan {
  clientId: string
  key: ObjectKey
}

// The record is usually stored in this time. The scan of a file without a record is deferred by a second.
const DELAY_MS = 100

/** @param options.jobs undefined without a scanner */
export function createScanQueue({ jobs }: { jobs: Pick<Jobs, 'enqueue'> | undefined }): ScanQueue {
  async function queue(client: Client, key: ObjectKey): Promise<void> {
    const data: QueuedScan = { clientId: client.id, key }
    // Without an owner: with Redis, each job that is added or begins orders all waiting jobs of owners. An import may add a million.
    // A scan that has failed permanently begins again: otherwise its file would wait forever.
    await jobs?.enqueue({
      kind: SCAN_KIND,
      id: `${client.id} ${key}`,
      data,
      delayMs: DELAY_MS,
      again: true,
    })
  }

  const isWaiting = ({ scan }: Pick<OriginalRecord, 'scan'>) => scan?.state === 'waiting'

  return {
    async begin(client, records) {
      if (!jobs) return [...records]
      for (const { key } of records) await queue(client, key)
      return records.map((record) => ({ ...record, scan: { state: 'waiting' } }))
    },

    async resume(client, record) {
      if (isWaiting(record)) await queue(client, record.key)
    },

    check(client, record) {
      if (!record.scan || record.scan.state === 'clean') return
      if (!isWaiting(record)) throw fileInfected()
      // Its job may be lost. The response does not wait, and the next request tries it again.
      void queue(client, record.key).catch(() => {})
      throw notScanned()
    },
  }
}
