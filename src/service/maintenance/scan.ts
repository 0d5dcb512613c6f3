import type { Finding } from '../../core/files/finding.ts'

/** How far a walk through all files has come. */
export interface Progress {
  /** Objects and entries. */
  looked: number
  findings: number
}

/** Whom a walk tells what it finds. Both may be slow: the walk waits. */
export interface Walk {
  /** One client only; all of them when absent. */
  clientId?: string | undefined
  signal: AbortSignal
  found(finding: Finding): Promise<void>
  progress(progress: Progress): Promise<void>
}

// Looked at side by side: enough to hide the way to S3 and back, few enough that deliveries do not feel it.
export const CONCURRENCY = 16
