/** Locks across all processes. The holder of a lock hands it over when another caller requests it. */
export interface Handover {
  /**
   * Takes the lock `name`. If it is held, asks its holder to release it, and waits. A lock of a dead process expires within
   * seconds.
   *
   * @returns a function that releases the lock
   * @throws Problem 423 when the holder does not release it within `waitMs`; 503; `signal.reason`
   */
  take(name: string, options: HandoverOptions): Promise<() => Promise<void>>
}

export interface HandoverOptions {
  /** Called when another caller requests the lock, perhaps several times, and when it was lost. The holder must stop its work. */
  wanted: () => void
  waitMs: number
  signal: AbortSignal
}
