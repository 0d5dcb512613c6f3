import { z } from 'zod'
import { Problem, retryAfter } from '../problem.ts'

/**
 * The result of the malware scan of an original. `waiting`: the scan has not ended. Absent in a record: the file was stored while no
 * scanner was installed.
 */
export const scanSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('waiting') }),
  z.object({ state: z.literal('clean') }),
  z.object({ state: z.literal('infected'), signature: z.string() }),
])

export type Scan = z.infer<typeof scanSchema>

/** The result of a scan that has ended. */
export type EndedScan = Exclude<Scan, { state: 'waiting' }>

// Most scans end within a second.
const RETRY_AFTER_SECONDS = 3

/** 423: the scan of the file has not ended. */
export function notScanned(): Problem {
  const detail = 'The malware scan of this file has not ended. Retry after 3 s.'
  return new Problem({
    status: 423,
    code: 'file_not_scanned',
    detail,
    ...retryAfter(RETRY_AFTER_SECONDS),
  })
}

/** 403: the scanner has found malware in the file. */
export function fileInfected(): Problem {
  const detail = 'The malware scan found this file infected. Delete it.'
  return new Problem({ status: 403, code: 'file_infected', detail })
}
