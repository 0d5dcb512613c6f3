/** A day in UTC: `2026-11-22`. */
export type Day = string

const DAY_MS = 86_400_000

/** The days from one to another, both inclusive. */
export function daysBetween(from: Day, to: Day): Day[] {
  const days: Day[] = []
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) days.push(dayOf(at))
  return days
}

let last = { number: Number.NaN, day: '' }

/** The day of an instant in milliseconds since 1970. Each request asks for the same one, and to format a date takes half a µs. */
export function dayOf(instant: number): Day {
  const number = Math.floor(instant / DAY_MS)
  if (number !== last.number) last = { number, day: new Date(instant).toISOString().slice(0, 10) }
  return last.day
}

/** The day that is `count` days before another one. */
export function daysBefore(day: Day, count: number): Day {
  return dayOf(Date.parse(day) - count * DAY_MS)
}
