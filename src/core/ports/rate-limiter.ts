/** Counts what may be done so many times in so many seconds. */
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

/** What is counted, each apart from the others; their names in headers. */
export const LIMITED = ['upload', 'derivative', 'fetch', 'sign', 'zip', 'sign_in'] as const
export type Limited = (typeof LIMITED)[number]

/** Those that a client may have a number of its own for: nobody signs in as a client. */
export const CLIENT_LIMITED = LIMITED.filter((name) => name !== 'sign_in')
export type ClientLimited = (typeof CLIENT_LIMITED)[number]

/** How often one thing may be done: by one client, and from one address. Absent: as often as they like. */
export interface Limit {
  byClient?: RateLimiter
  /** The same count with other points: those of a client that has a number of its own. */
  byClientWith(points: number): RateLimiter
  byAddress?: RateLimiter
}

export type Limits = Readonly<Record<Limited, Limit>>
