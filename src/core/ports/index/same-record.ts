import { isDeepStrictEqual } from 'node:util'
import type { OriginalRecord } from '../file-index.ts'

/** Whether two records of an original have the same record in the bucket: only the index has the probe. */
export function isSameInBucket({ probe: _, ...one }: OriginalRecord, other: OriginalRecord): boolean {
  const { probe: __, ...rest } = other
  return isDeepStrictEqual(one, rest)
}
