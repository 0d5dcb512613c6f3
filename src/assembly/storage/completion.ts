import { createCompareBatch } from '../../service/maintenance/comparison/compare-batch.ts'
import { type Completion, createCompletion } from '../../service/maintenance/comparison/comparison.ts'
import { createPace } from '../../service/maintenance/comparison/pace.ts'

/** The comparison of the index with the buckets, at a pace that leaves half of the time to requests. */
export function openCompletion(
  parts: Omit<Parameters<typeof createCompletion>[0], 'compareBatch'> &
    Omit<Parameters<typeof createCompareBatch>[0], 'pace'>,
): Completion {
  return createCompletion({ ...parts, compareBatch: createCompareBatch({ ...parts, pace: createPace() }) })
}
