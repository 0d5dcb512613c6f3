import type { Day } from '../text/day.ts'

/** The counters. Each is a whole number: of bytes, or of events. */
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

/** Minimum retention of the counts of a day, in days. */
export const USAGE_KEPT_DAYS = 400

/** Daily counts of each client's usage. They may be lost: operators who need them permanently must export them. */
export interface UsageStore {
  /** Adds to the counts. Atomic for each day, not for the whole call. */
  add(usage: readonly DayUsage[]): Promise<void>
  /** The counts of one client for the given days, in any order. Days without counts may be missing. */
  read(clientId: string, days: readonly Day[]): Promise<DayUsage[]>
}
