import type { ClientUsageReport } from '../../../../client/index.ts'
import { formatBytes, formatCompact, formatNumber } from '../../ui/format.ts'

export type UsageRow = ClientUsageReport['days'][number]

/** What a chart can show. */
export const METRICS = [
  'deliveries',
  'bytes',
  'transformations',
  'cacheHits',
  'errors',
  'uploadedBytes',
] as const
export type Metric = (typeof METRICS)[number]
export type Totals = Record<Metric, number>

const isBytes = (metric: Metric) => metric === 'bytes' || metric === 'uploadedBytes'

/** A value with all digits, or in bytes. */
export const formatValue = (metric: Metric, value: number) =>
  isBytes(metric) ? formatBytes(value) : formatNumber(value)

/** A value for an axis: `1.2K`. */
export const formatShort = (metric: Metric, value: number) =>
  isBytes(metric) ? formatBytes(value) : formatCompact(value)

/** The sums of some rows. */
export function totalsOf(rows: readonly UsageRow[]): Totals {
  const totals = Object.fromEntries(METRICS.map((metric) => [metric, 0])) as Totals
  for (const row of rows) for (const metric of METRICS) totals[metric] += row[metric]
  return totals
}

/** One value for each day; 0 for a day without activity. */
export function valuesOf(
  rows: readonly UsageRow[],
  { metric, days }: { metric: Metric; days: readonly string[] },
): number[] {
  const sums = new Map<string, number>()
  for (const row of rows) sums.set(row.day, (sums.get(row.day) ?? 0) + row[metric])
  return days.map((day) => sums.get(day) ?? 0)
}

/** The share of requests for derivatives that found a stored one. Undefined without requests. */
export function cacheRate({ cacheHits, transformations }: Totals): number | undefined {
  const requests = cacheHits + transformations
  return requests === 0 ? undefined : cacheHits / requests
}

/** The share of requests that have failed. Undefined without requests. */
export function errorRate({ errors, deliveries }: Totals): number | undefined {
  const requests = errors + deliveries
  return requests === 0 ? undefined : errors / requests
}

/** One client in the period. `storedBytes`: of today, undefined when the period does not contain it. */
export interface ClientUsage {
  id: string
  name: string
  storedBytes: number | undefined
  rows: readonly UsageRow[]
  totals: Totals
}

/** The rows by client. */
export function clientsOf(
  rows: readonly UsageRow[],
  clients: ReadonlyArray<{ id: string; name: string }>,
): ClientUsage[] {
  const grouped = new Map<string, UsageRow[]>()
  for (const row of rows) grouped.set(row.client, [...(grouped.get(row.client) ?? []), row])
  return clients.map(({ id, name }) => {
    const own = grouped.get(id) ?? []
    const storedBytes = own.find((row) => row.storedBytes !== undefined)?.storedBytes
    return { id, name, rows: own, totals: totalsOf(own), storedBytes }
  })
}
