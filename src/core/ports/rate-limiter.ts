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

/** How often one thing may be done: by one client, and from one address. Absent: as often as they like. */
export interface Limit {
  byClient?: RateLimiter
  byAddress?: RateLimiter
}

export type Limits = Readonly<Record<Limited, Limit>>
