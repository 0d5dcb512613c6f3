/** The time for which a worker may count on a job being its own. */
export interface Lease {
  /** Aborted when the lease has run out or was lost. */
  readonly signal: AbortSignal
  renew(): void
  lose(reason: string): void
  /** The job is done with: nothing is aborted any more. */
  end(): void
}

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
    end: () => clearTimeout(timer),
  }
}
