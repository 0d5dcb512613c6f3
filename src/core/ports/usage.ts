/** What is counted, each a whole number: bytes, or how often. */
export const USAGE_NAMES = [
  'uploads',
  'uploadedBytes',
  'deliveries',
  'deliveredBytes',
  'transformations',
] as const

export type UsageName = (typeof USAGE_NAMES)[number]

/** A day in UTC: `2026-11-22`. */
export type Day = string

export interface DayUsage {
  clientId: string
  day: Day
  counts: Readonly<Partial<Record<UsageName, number>>>
}

/** How long a day's counts are kept, at least, in days. */
export const USAGE_KEPT_DAYS = 400

/** Counts of what clients have used, by day. They may be lost: whoever needs them for good has to fetch them. */
export interface UsageStore {
  /** Adds to what is counted; days of one call may be added apart from one another. */
  add(usage: readonly DayUsage[]): Promise<void>
  /** What is known of one client's days, of those asked for, in any order; days without counts may be missing. */
  read(clientId: string, days: readonly Day[]): Promise<DayUsage[]>
}

/** The days from one to another, both inclusive. */
export function daysBetween(from: Day, to: Day): Day[] {
  const days: Day[] = []
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) days.push(dayOf(at))
  return days
}

const DAY_MS = 86_400_000

/** The day of an instant in milliseconds since 1970. */
export function dayOf(instant: number): Day {
  return new Date(instant).toISOString().slice(0, 10)
}

/** The day so many days before another one. */
export function daysBefore(day: Day, count: number): Day {
  return dayOf(Date.parse(day) - count * DAY_MS)
}
