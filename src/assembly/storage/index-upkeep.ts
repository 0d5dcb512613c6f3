import { createCompareBatch } from '../../service/maintenance/comparison/compare-batch.ts'
import { type Completion, createCompletion } from '../../service/maintenance/comparison/comparison.ts'
import { createPace } from '../../service/maintenance/comparison/pace.ts'
import { createUpgradeIndex, type UpgradeIndex } from '../../service/maintenance/upgrade-index.ts'

/** What keeps the index complete: its comparison with the buckets, at a pace that leaves half of the time to requests, and its conversion. */
export function openIndexUpkeep(
  parts: Omit<Parameters<typeof createCompletion>[0], 'compareBatch' | 'pace'> &
    Omit<Parameters<typeof createCompareBatch>[0], 'pace'> &
    Parameters<typeof createUpgradeIndex>[0],
): { completion: Completion; upgradeIndex: UpgradeIndex } {
  const pace = createPace()
  const compareBatch = createCompareBatch({ ...parts, pace })
  return {
    completion: createCompletion({ ...parts, pace, compareBatch }),
    upgradeIndex: createUpgradeIndex(parts),
  }
}
