import type { Day } from '../text/day.ts'

/** The counters. Each is a whole number of bytes or of events. */
export const USAGE_NAMES = [
  'uploads',
  'uploadedBytes',
  'deliveries',
  'deliveredBytes',
  'transformations',
  'cacheHits',
  'errors',
] as const

export type UsageName = (typeof USAGE_NAMES)[number]

export interface DayUsage {
  clientId: string
  day: Day
  counts: Readonly<Partial<Record<UsageName, number>>>
}

/** How long the counters of a day are stored at least, in days. */
export const USAGE_RETENTION_DAYS = 400

/** The usage of clients by day. It may be lost with the store: to keep it permanently, an operator has to export it. */
export interface UsageStore {
  /** Adds to the counters. The days of one call are not added atomically. */
  add(usage: readonly DayUsage[]): Promise<void>
  /** The counters of one client on these days, in any order. Days without counters may be missing. */
  read(clientId: string, days: readonly Day[]): Promise<DayUsage[]>
}
