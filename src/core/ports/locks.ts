/** Work that only one at a time may do, across all processes that share the locks. */
export interface Locks {
  /**
   * Runs `work` as the holder of `name`; or, when somebody holds it, waits and answers with the holder's outcome: its
   * result, or its failure. Fifty requests for a broken file are one decode.
   *
   * The holder's lock is renewed while it works; a dead holder's runs out. The work's signal aborts when `limitMs` is
   * over or when its last waiter has left, not when the first one leaves.
   *
   * @param work its result is JSON: it may have to travel to another process
   * @throws what the work threw, or `signal.reason` when this caller leaves first
   */
  share<T>(name: string, work: (signal: AbortSignal) => Promise<T>, options: ShareOptions): Promise<T>
}

export interface ShareOptions {
  /** This caller's patience. */
  signal?: AbortSignal
  /** The work's, in milliseconds. */
  limitMs: number
}
