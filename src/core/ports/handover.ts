/** Exclusive locks across processes. A holder is asked to release its lock when another caller wants it. */
export interface Handover {
  /**
   * Asks the holder of `name`, if there is one, to release it, and takes the lock then. The lock of a dead process is released
   * within seconds.
   *
   * @returns a function that releases the lock
   * @throws Problem 423 when the holder does not release it within `waitMs`, 503, `signal.reason`
   */
  take(name: string, options: HandoverOptions): Promise<() => Promise<void>>
}

export interface HandoverOptions {
  /** Called when another caller wants the lock, perhaps several times, and when the lock was lost: stop the work and release it. */
  wanted: () => void
  waitMs: number
  signal: AbortSignal
}
