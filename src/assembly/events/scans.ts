import { measuredJobs } from '../../adapters/jobs/measured.ts'
import { noMetrics } from '../../adapters/metrics/none.ts'
import type { Client } from '../../core/clients/client.ts'
import type { Log } from '../../core/log.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { FileIndex } from '../../core/ports/file-index.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import type { PluginSet } from '../../pipeline/load/load.ts'
import { createAnnotate } from '../../service/files/annotate.ts'
import type { Removals } from '../../service/originals/delete.ts'
import type { OriginalEvents } from '../../service/originals/original-events.ts'
import type { Originals } from '../../service/originals/originals.ts'
import type { Records } from '../../service/originals/records.ts'
import { SCAN_KIND } from '../../service/scans/scan-queue.ts'
import { createScans, type Scans } from '../../service/scans/scans.ts'
import type { Observed } from './webhooks.ts'

/** Runs malware scans. Without a scanner it does nothing. */
export interface Scanning extends Scans {
  /** The kinds of its jobs. */
  readonly kinds: readonly string[]
}

/** Opens what scans new files, if there is a scanner. */
export function openScans(
  { scanner }: Pick<PluginSet, 'scanner'>,
  {
    jobs,
    metrics = noMetrics,
    log,
    ...options
  }: Observed & {
    jobs: Jobs
    presentClient: (id: string) => Promise<Client | undefined>
    index: FileIndex
    buckets: Buckets
    originals: Originals
    records: Records
    removals: Removals
    originalEvents: OriginalEvents
    log: Log
  },
): Scanning {
  if (!scanner) return { kinds: [], work() {} }
  const annotate = createAnnotate(options)
  const measured = measuredJobs(jobs, { metrics, log })
  const scans = createScans({ ...options, scanner, jobs: measured, annotate, metrics, log })
  return { kinds: [SCAN_KIND], ...scans }
}
