import type { Finding } from '../../core/files/finding.ts'

/** Progress of a walk over all files. */
export interface Progress {
  /** Number of objects and entries. */
  looked: number
  findings: number
}

/** Options of a walk over all files. It waits for both callbacks. */
export interface Walk {
  /** Only this client. Absent: all clients. */
  clientId?: string | undefined
  signal: AbortSignal
  found(finding: Finding): Promise<void>
  progress(progress: Progress): Promise<void>
}

// Concurrent checks: enough to hide the latency of S3, few enough that deliveries are not slowed down.
export const CONCURRENCY = 16
