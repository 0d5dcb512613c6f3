import type { LimitName } from '../clients/limit-names.ts'
/** Limits each key to `points` within a window of `seconds`. */
export interface RateLimiter {
  readonly points: number
  readonly seconds: number
  /** Takes one point of `key`. */
  consume(key: string): Promise<RateVerdict>
  /** Takes no point. `allowed`: whether a point is left. */
  look(key: string): Promise<RateVerdict>
  /** Takes points for completed work, also more than are left. @param points an integer from 1 */
  charge(key: string, points: number): Promise<void>
}

export interface RateVerdict {
  allowed: boolean
  /** Points left in the window, 0 or more. */
  remaining: number
  /** Milliseconds until the next window starts; 0 when no window has begun. */
  resetMs: number
}

/** The rate limits of one kind of request: per client, and per IP address. Unlimited when absent. */
export interface Limit {
  byClient?: RateLimiter
  /** The limiter of a client whose rules have their own number of points. It shares its counts with `byClient`. */
  byClientWith(points: number): RateLimiter
  byAddress?: RateLimiter
}

export type Limits = Readonly<Record<LimitName, Limit>>
