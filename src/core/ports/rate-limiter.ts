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

/** The limits, each counted apart from the others, by what they are of; so they are called in headers. */
export const LIMIT_NAMES = [
  'upload',
  'derivative',
  'cpu',
  'fetch',
  'media',
  'sign',
  'zip',
  'sign_in',
] as const
export type LimitName = (typeof LIMIT_NAMES)[number]

/** Those that a client may have a number of its own for: nobody signs in as a client. */
export const CLIENT_LIMIT_NAMES = LIMIT_NAMES.filter((name) => name !== 'sign_in')
export type ClientLimitName = (typeof CLIENT_LIMIT_NAMES)[number]

/** How often one thing may be done: by one client, and from one address. Absent: as often as they like. */
export interface Limit {
  byClient?: RateLimiter
  /** The same count with other points: those of a client that has a number of its own. */
  byClientWith(points: number): RateLimiter
  byAddress?: RateLimiter
}

export type Limits = Readonly<Record<LimitName, Limit>>
