/** Shares work across processes: one caller does it, the others wait for the result. */
export interface Locks {
  /**
   * Runs `work` as the holder of `name`. If another caller holds it, waits and returns that caller's result, or throws its error. Fifty
   * requests for a broken file cause one decode.
   *
   * The lock is renewed during the work; the lock of a dead process expires. The signal of the work aborts after `limitMs`, or when the
   * last caller has left.
   *
   * @param work its result is JSON, since it may be sent to another process
   * @throws the error of the work, or `signal.reason` when this caller leaves first
   */
  share<T>(name: string, work: (signal: AbortSignal) => Promise<T>, options: ShareOptions): Promise<T>
}

export interface ShareOptions {
  /** Aborted when this caller stops waiting. */
  signal?: AbortSignal
  /** The time limit of the work, in milliseconds. */
  limitMs: number
  /**
   * How long the lock of a dead process lasts, and how long the work continues while the lock cannot be renewed, in milliseconds. The
   * caller that starts the work decides. Default: that of the installation.
   */
  leaseMs?: number
}
