import type { Api, CallOptions } from '../http/request.ts'

/** The days of a report, both inclusive, in UTC: `2026-11-30`. Default: the last 30. */
export interface UsageOptions extends CallOptions {
  from?: string
  to?: string
}

/** What a client stores, and what it did on each day. */
export interface UsageReport {
  files: number
  storedBytes: number
  deletedFiles: number
  deletedBytes: number
  days: Array<{
    day: string
    uploads: number
    uploadedBytes: number
    deliveries: number
    deliveredBytes: number
    transformations: number
  }>
}

/** Requests the usage of a client. */
export function requestUsage(api: Api, { signal, ...query }: UsageOptions = {}): Promise<UsageReport> {
  return api.json({ path: '/v1/usage', query, signal })
}
