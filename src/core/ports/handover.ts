/** What only one at a time may hold, across all processes that share it, and is to hand over when another one wants it. */
export interface Handover {
  /**
   * Asks the holder of `name`, if there is one, to hand it over, and holds it as soon as that has given it back. What a dead
   * process holds is free in seconds.
   *
   * @returns gives it back
   * @throws Problem 423 when the holder keeps it for longer than `waitMs`, 503, `signal.reason`
   */
  take(name: string, options: HandoverOptions): Promise<() => Promise<void>>
}

export interface HandoverOptions {
  /** Called when another one wants it, perhaps several times, and when it has been lost: end what it was for. */
  wanted: () => void
  waitMs: number
  signal: AbortSignal
}
