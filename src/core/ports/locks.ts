/** Single flight across all processes that share the locks. */
export interface Locks {
  /**
   * Runs `work` as the holder of `name`. When another caller holds it, waits for that caller's result or error and returns
   * or throws that. So fifty requests for a broken file decode it once.
   *
   * The lock is renewed while its holder works; the lock of a dead holder expires. The signal of the work aborts when
   * `limitMs` is over or when its last waiter has left, not when the first one leaves.
   *
   * @param work its result must be JSON, since it may be sent to another process
   * @throws the error of the work, or `signal.reason` when this caller leaves first
   */
  share<T>(name: string, work: (signal: AbortSignal) => Promise<T>, options: ShareOptions): Promise<T>
}

export interface ShareOptions {
  /** Its abort ends the wait of this caller. */
  signal?: AbortSignal
  /** Time limit of the work. */
  limitMs: number
}
