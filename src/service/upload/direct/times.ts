import type { PutPart } from '../../../core/ports/bucket.ts'
import type { ShareOptions } from '../../../core/ports/locks.ts'
import { PART_BYTES, PUTS_MAX } from '../../../core/storage/direct-parts.ts'
import type { ResumableRecord } from '../resumable/resumable-record.ts'
import { LARGE_BYTES } from './patience.ts'

// Reading and copying 78 GiB at 45 MB/s. Larger files have more time: 5 TiB have 66 hours.
const FINISH_LIMIT_MS = 3_600_000
const FINISH_BYTES = 78 * 1024 ** 3

// It is renewed every 30 seconds, and other steps of a large file are tried for a minute.
const LARGE_LEASE_MS = 90_000

/** The limits of the lock under which a complete upload is stored. */
export function finishLimits({
  size = 0,
}: Pick<ResumableRecord, 'size'>): Pick<ShareOptions, 'limitMs' | 'leaseMs'> {
  return {
    limitMs: Math.round(FINISH_LIMIT_MS * Math.max(1, size / FINISH_BYTES)),
    ...(size < LARGE_BYTES ? {} : { leaseMs: LARGE_LEASE_MS }),
  }
}

// 16 MiB at 30 kB/s. From 3.1 GiB (PUTS_MAX parts) on, the parts grow with the file, up to 525 MiB. An hour for such a part is 150 kB/s.
const FIRST_PART_MS = 600_000
const PARTS_GROW = 6

/** The time after which the first part of a direct upload has arrived, unless its client is gone, in milliseconds. */
export function firstPartMs({ size = 0 }: Pick<ResumableRecord, 'size'>): number {
  return FIRST_PART_MS * Math.min(PARTS_GROW, Math.max(1, size / (PUTS_MAX * PART_BYTES)))
}

// S3 checks the end of a URL when a request begins. The request may take a while, and the client completes the upload after it.
const GRACE_MAX_MS = 3_600_000

/** How long a complete request may take after the end of its upload, in milliseconds. */
export function graceMs(expireMs: number): number {
  return Math.min(expireMs, GRACE_MAX_MS)
}

/** How long a direct upload may be without a new part, in milliseconds. @param expireMs retention of an unfinished upload */
export function idleMs(expireMs: number): number {
  return expireMs + graceMs(expireMs)
}

// 1 MB/s. Without a limit, one small part a day would hold the space of an unfinished upload for years.
const BYTES_PER_MS = 1000

/**
 * When a direct upload expires that has received these parts, in milliseconds since 1970. Each part gives it the idle time again, also
 * one that was sent again, but no more than one idle time after the time that its size takes at 1 MB/s.
 */
export function endOfDirect(
  {
    createdAt,
    size = 0,
    direct: { until },
  }: Pick<ResumableRecord, 'createdAt' | 'size'> & { direct: { until: number } },
  { parts, expireMs }: { parts: readonly Pick<PutPart, 'at'>[]; expireMs: number },
): number {
  const hardEnd = createdAt + size / BYTES_PER_MS + idleMs(expireMs)
  const last = parts.reduce((latest, { at }) => Math.max(latest, at), 0)
  return Math.max(until, Math.min(last + idleMs(expireMs), hardEnd))
}

// A sweep repeats an attempt to store a file.
const ATTEMPTS = 2

/**
 * The longest time from the beginning of an upload in several requests until its file is stored, in milliseconds.
 *
 * @param options.directMaxBytes 0 when no upload is direct
 */
export function longestUploadMs({
  maxBytes,
  directMaxBytes,
  expireMs,
}: {
  maxBytes: number
  directMaxBytes: number
  expireMs: number
}): number {
  const storingMs = ATTEMPTS * finishLimits({ size: maxBytes }).limitMs
  return Math.ceil(directMaxBytes / BYTES_PER_MS) + idleMs(expireMs) + storingMs
}
