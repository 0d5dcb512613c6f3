import type { LimitName } from '../clients/limit-names.ts'
/** Counts what may be done so many times, or spent, in so many seconds. */
export interface RateLimiter {
  readonly points: number
  readonly seconds: number
  /** Takes one point of `key`. */
  consume(key: string): Promise<RateVerdict>
  /** Takes no point. `allowed`: whether one is left. */
  look(key: string): Promise<RateVerdict>
  /** Takes points for work that was done already, also more than are left. @param points an integer from 1 */
  charge(key: string, points: number): Promise<void>
}

export interface RateVerdict {
  allowed: boolean
  /** Points left in the window, 0 or more. */
  remaining: number
  /** Milliseconds until the next window starts; 0 when no window has begun. */
  resetMs: number
}

/** How often one thing may be done: by one client, and from one address. Absent: as often as they like. */
export interface Limit {
  byClient?: RateLimiter
  /** The same count with other points: those of a client that has a number of its own. */
  byClientWith(points: number): RateLimiter
  byAddress?: RateLimiter
}

export type Limits = Readonly<Record<LimitName, Limit>>
