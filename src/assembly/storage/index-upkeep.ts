import type { IndexMaintenance } from '../../core/ports/file-index.ts'
import { createCompareBatch } from '../../service/maintenance/comparison/compare-batch.ts'
import { type Completion, createCompletion } from '../../service/maintenance/comparison/comparison.ts'
import { createPace } from '../../service/maintenance/comparison/pace.ts'

/**
 * What keeps the index complete and small: its comparison with the buckets, at a pace that leaves most of the time to requests, and the
 * removal of the index of an older version.
 */
export function openIndexUpkeep(
  parts: Omit<Parameters<typeof createCompletion>[0], 'compareBatch' | 'pace'> &
    Omit<Parameters<typeof createCompareBatch>[0], 'pace'> & {
      index: Pick<IndexMaintenance, 'removeFormer'>
    },
): { completion: Completion } & Pick<IndexMaintenance, 'removeFormer'> {
  const pace = createPace()
  const compareBatch = createCompareBatch({ ...parts, pace })
  return {
    completion: createCompletion({ ...parts, pace, compareBatch }),
    removeFormer: (signal) => parts.index.removeFormer(signal),
  }
}
