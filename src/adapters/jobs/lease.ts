import { JobRemoved } from '../../core/ports/jobs.ts'

/** The time during which a worker owns a job. */
export interface Lease {
  /** Aborted when the lease has expired or was lost. */
  readonly signal: AbortSignal
  renew(): void
  lose(reason: string): void
  /** Aborts the signal with {@link JobRemoved}. */
  remove(): void
  /** The job is complete. The signal is not aborted any more. */
  end(): void
}

/** Creates a lease of `ms` milliseconds, which starts now. */
export function createLease(ms: number): Lease {
  const controller = new AbortController()
  const lose = (reason: string) => controller.abort(new DOMException(reason, 'AbortError'))
  const start = () => setTimeout(() => lose('the lease has expired: another worker may have this job'), ms)
  let timer = start()
  return {
    signal: controller.signal,
    renew() {
      clearTimeout(timer)
      timer = start()
    },
    lose,
    remove: () => controller.abort(new JobRemoved()),
    end: () => clearTimeout(timer),
  }
}
