import type { PutPart } from '../../../core/ports/bucket.ts'
import type { ResumableRecord } from '../resumable-record.ts'

// Reading and writing 78 GiB at 45 MB/s. Larger files have more time: 5 TiB have 65 hours.
const FINISH_LIMIT_MS = 3_600_000
const FINISH_BYTES = 78 * 1024 ** 3

/** The time limit for storing a complete upload, in milliseconds. */
export function finishLimitMs({ size = 0 }: Pick<ResumableRecord, 'size'>): number {
  return Math.round(FINISH_LIMIT_MS * Math.max(1, size / FINISH_BYTES))
}

// 16 MiB at 30 kB/s. From 3.1 GiB on, the parts grow with the file, up to 525 MiB.
const FIRST_PART_MS = 600_000
const SMALL_PARTS_BYTES = 200 * 16 * 1024 ** 2
const PARTS_GROW = 33

/** The time after which the first part of a direct upload has arrived, unless its client is gone, in milliseconds. */
export function firstPartMs({ size = 0 }: Pick<ResumableRecord, 'size'>): number {
  return FIRST_PART_MS * Math.min(PARTS_GROW, Math.max(1, size / SMALL_PARTS_BYTES))
}

// S3 checks the end of a URL when a request begins. The request may take a while, and the client completes the upload after it.
const GRACE_MAX_MS = 3_600_000

/** How long a direct upload may be without a new part, in milliseconds. @param expireMs retention of an unfinished upload */
export function idleMs(expireMs: number): number {
  return expireMs + Math.min(expireMs, GRACE_MAX_MS)
}

/** When a direct upload expires that has received these parts, in milliseconds since 1970. */
export function endOfDirect(
  { until }: { until: number },
  { parts, expireMs }: { parts: readonly PutPart[]; expireMs: number },
): number {
  return parts.reduce((end, { at }) => Math.max(end, at + idleMs(expireMs)), until)
}
