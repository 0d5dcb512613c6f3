import type { Buckets } from '../../core/ports/bucket.ts'
import type { FileIndex } from '../../core/ports/file-index.ts'
import type { Tracing } from '../../core/ports/telemetry/tracing.ts'
import { sampledTrace } from '../../core/request-context.ts'
import { type Around, aroundStorage } from '../around-storage.ts'

/** Wraps the storage: each call that returns a promise has a span, such as `index find` or `bucket put`. */
export function tracedStorage(
  storage: { buckets: Buckets; index: FileIndex },
  tracing: Tracing,
): { buckets: Buckets; index: FileIndex } {
  return aroundStorage(storage, { bucket: traceTo(tracing, 'bucket'), index: traceTo(tracing, 'index') })
}

function traceTo(tracing: Tracing, store: string): Around {
  return (operation, call) => {
    const parent = sampledTrace()
    if (!parent) return call()
    const startedAt = performance.now()
    const result = call()
    if (!(result instanceof Promise)) return result
    const span = tracing.begin(`${store} ${operation}`, { kind: 'client', parent, startedAt })
    result.then(
      () => span.end(),
      (error) => span.end({ error }),
    )
    return result
  }
}
