import type { Buckets } from '../../core/ports/bucket.ts'
import type { FileIndex } from '../../core/ports/file-index.ts'
import type { Tracing } from '../../core/ports/telemetry/tracing.ts'
import { sampledTrace, type TraceContext } from '../../core/request-context.ts'
import { type Around, aroundStorage } from '../around-storage.ts'

// A ZIP archive of thousands of files must not displace the spans of other requests in the queue.
const MAX_CALLS = 200

/**
 * Wraps the storage: each call that returns a promise has a span, such as `index find` or `bucket put`. Below each span, only the first 200
 * calls have one.
 */
export function tracedStorage(
  storage: { buckets: Buckets; index: FileIndex },
  tracing: Tracing,
): { buckets: Buckets; index: FileIndex } {
  const calls = new WeakMap<TraceContext, number>()
  const mayTrace = (parent: TraceContext) => {
    const count = (calls.get(parent) ?? 0) + 1
    calls.set(parent, count)
    return count <= MAX_CALLS
  }
  const traceTo = (store: string) => tracedCalls(tracing, { store, mayTrace })
  return aroundStorage(storage, { bucket: traceTo('bucket'), index: traceTo('index') })
}

function tracedCalls(
  tracing: Tracing,
  { store, mayTrace }: { store: string; mayTrace(parent: TraceContext): boolean },
): Around {
  return (operation, call) => {
    const parent = sampledTrace()
    if (!parent || !mayTrace(parent)) return call()
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
