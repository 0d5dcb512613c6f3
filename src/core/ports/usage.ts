import type { Day } from '../text/day.ts'

/** What is counted, each a whole number: bytes, or how often. */
export const USAGE_NAMES = [
  'uploads',
  'uploadedBytes',
  'deliveries',
  'deliveredBytes',
  'transformations',
] as const

export type UsageName = (typeof USAGE_NAMES)[number]

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
