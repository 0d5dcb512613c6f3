import type { LimitName } from '../clients/limit-names.ts'

/** Counts points per key in windows of a fixed length. */
export interface RateLimiter {
  readonly points: number
  readonly seconds: number
  /** Takes one point of `key`. */
  consume(key: string): Promise<RateVerdict>
  /** Reads the counter without taking a point. `allowed`: whether a point is left. */
  look(key: string): Promise<RateVerdict>
  /** Takes points for work that was done already, even more than are left. @param points an integer from 1 */
  charge(key: string, points: number): Promise<void>
}

export interface RateVerdict {
  allowed: boolean
  /** Points left in the window, 0 or more. */
  remaining: number
  /** Milliseconds until the next window starts; 0 when no window has begun. */
  resetMs: number
}

/** The limiters of one kind of request: per client and per IP address. Absent: no limit. */
export interface Limit {
  byClient?: RateLimiter
  /** The same counter with another maximum, for a client whose rules set one. */
  byClientWith(points: number): RateLimiter
  byAddress?: RateLimiter
}

export type Limits = Readonly<Record<LimitName, Limit>>
