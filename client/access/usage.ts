import type { UsageReport } from '../generated/api.ts'
import type { Api, CallOptions } from '../http/request.ts'

/** The days of a report, both inclusive, in UTC: `2026-11-30`. Default: the last 30. */
export interface UsageOptions extends CallOptions {
  from?: string
  to?: string
}

/** Requests the usage of a client. */
export function requestUsage(api: Api, { signal, ...query }: UsageOptions = {}): Promise<UsageReport> {
  return api.json({ path: '/v1/usage', query, signal })
}
