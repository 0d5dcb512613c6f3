/** Days in UTC, as `2026-11-24`, both inclusive. */
export interface Period {
  from: string
  to: string
}

const DAY_MS = 86_400_000

const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** Today in UTC. */
export const today = () => dayOf(Date.now())

/** The day this many days later, or earlier. */
export const dayAfter = (day: string, days: number) => dayOf(Date.parse(day) + days * DAY_MS)

/** The last days, with today. */
export function lastDays(count: number): Period {
  const to = today()
  return { from: dayAfter(to, 1 - count), to }
}

/** The number of days. */
export function lengthOf({ from, to }: Period): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1
}

/** Each day. */
export function daysOf(period: Period): string[] {
  return Array.from({ length: lengthOf(period) }, (_, at) => dayAfter(period.from, at))
}

/** The period of the same length that ends on the day before. */
export function periodBefore(period: Period): Period {
  return { from: dayAfter(period.from, -lengthOf(period)), to: dayAfter(period.from, -1) }
}

const short = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' })
const long = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  year: 'numeric',
  timeZone: 'UTC',
})

/** `Nov 24`. */
export const shortDay = (at: string | number) => short.format(new Date(at))

/** `Tue, Nov 24, 2026`. */
export const longDay = (at: string | number) => long.format(new Date(at))
