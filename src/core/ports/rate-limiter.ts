/** Counts what a client may do so many times in so many seconds. */
export interface RateLimiter {
  readonly points: number
  readonly seconds: number
  /** Takes one point of `key`. */
  consume(key: string): Promise<RateVerdict>
}

export interface RateVerdict {
  allowed: boolean
  /** Points left in the window, 0 or more. */
  remaining: number
  /** Milliseconds until the window starts anew. */
  resetMs: number
}
