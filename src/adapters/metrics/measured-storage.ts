import type { Asset } from '../../core/bytes/asset.ts'
import type { Bucket, Buckets } from '../../core/ports/bucket.ts'
import type { FileIndex } from '../../core/ports/file-index.ts'
import type { Metrics } from '../../core/ports/metrics.ts'
import { Problem } from '../../core/problem.ts'

type Measure = <T>(operation: string, result: Promise<T>) => Promise<T>

/** Wraps the storage: the duration of each call is reported to the metrics, including the opening of files. */
export function measuredStorage(
  { buckets, index }: { buckets: Buckets; index: FileIndex },
  metrics: Metrics,
): { buckets: Buckets; index: FileIndex } {
  const ofBucket = measureTo(metrics, 'bucket')
  const bucket = (inner: Bucket): Bucket => ({
    ...measured(inner, ofBucket),
    find: async (...args) => {
      const asset = await ofBucket('find', inner.find(...args))
      return asset && opening(asset, ofBucket)
    },
  })
  return {
    buckets: { ...measured(buckets, ofBucket), of: (client) => bucket(buckets.of(client)) },
    index: measured(index, measureTo(metrics, 'index')),
  }
}

function opening(asset: Asset, measure: Measure): Asset {
  return { ...asset, open: (options) => measure('open', asset.open(options)) }
}

/** Wraps each method of an adapter, which is a record of functions. Methods that return no promise are not measured. */
function measured<T extends object>(inner: T, measure: Measure): T {
  const methods = Object.entries(inner).map(([name, method]) => [
    name,
    (...args: unknown[]) => {
      const result = method(...args)
      return result instanceof Promise ? measure(name, result) : result
    },
  ])
  return Object.fromEntries(methods)
}

function measureTo(metrics: Metrics, store: 'bucket' | 'index'): Measure {
  return async (operation, result) => {
    const startedAt = performance.now()
    const count = (failed: boolean) =>
      metrics.storageCalled({ store, operation, failed, seconds: (performance.now() - startedAt) / 1000 })
    try {
      const value = await result
      count(false)
      return value
    } catch (error) {
      count(isFailure(error))
      throw error
    }
  }
}

/** A missing file, or a client that has disconnected, is no failure of the storage. */
function isFailure(error: unknown): boolean {
  if (error instanceof Problem) return error.status >= 500
  return !(error instanceof Error && error.name === 'AbortError')
}
