import type { Buckets } from '../../core/ports/bucket.ts'
import type { FileIndex } from '../../core/ports/file-index.ts'
import type { Metrics } from '../../core/ports/metrics.ts'
import { type Around, aroundStorage } from '../around-storage.ts'
import { isFailure } from '../is-failure.ts'

/**
 * Wraps the storage: the duration of each call is reported to the metrics, including the opening of files. Calls that return no promise
 * are not measured.
 */
export function measuredStorage(
  storage: { buckets: Buckets; index: FileIndex },
  metrics: Metrics,
): { buckets: Buckets; index: FileIndex } {
  return aroundStorage(storage, { bucket: measureTo(metrics, 'bucket'), index: measureTo(metrics, 'index') })
}

function measureTo(metrics: Metrics, store: 'bucket' | 'index'): Around {
  return (operation, call) => {
    const startedAt = performance.now()
    const count = (failed: boolean) =>
      metrics.storageCalled({ store, operation, failed, seconds: (performance.now() - startedAt) / 1000 })
    const result = call()
    if (result instanceof Promise)
      result.then(
        () => count(false),
        (error) => count(isFailure(error)),
      )
    return result
  }
}
