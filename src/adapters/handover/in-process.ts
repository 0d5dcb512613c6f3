import { setTimeout as pause } from 'node:timers/promises'
import { deferred } from '../../core/async/deferred.ts'
import type { Handover } from '../../core/ports/handover.ts'
import { heldByAnother } from './held.ts'

/** A handover within one process. */
export function inProcessHandover(): Handover {
  const holders = new Map<string, { wanted: () => void; over: Promise<void> }>()
  return {
    async take(name, { wanted, waitMs, signal }) {
      const until = performance.now() + waitMs
      for (let holder = holders.get(name); holder; holder = holders.get(name)) {
        signal.throwIfAborted()
        const restMs = until - performance.now()
        if (restMs <= 0) throw heldByAnother()
        holder.wanted()
        await inTime(holder.over, { restMs, signal })
      }
      signal.throwIfAborted()
      const { promise: over, resolve: end } = deferred<void>()
      holders.set(name, { wanted, over })
      return async () => {
        holders.delete(name)
        end()
      }
    },
  }
}

/** Waits at most `restMs` for the end of another holder. @throws `signal.reason`, which the aborted timer would hide */
async function inTime(over: Promise<void>, { restMs, signal }: { restMs: number; signal: AbortSignal }) {
  const left = new AbortController()
  const leave = () => left.abort()
  signal.addEventListener('abort', leave, { once: true })
  try {
    await Promise.race([over, pause(restMs, undefined, { signal: left.signal }).catch(() => {})])
    signal.throwIfAborted()
  } finally {
    signal.removeEventListener('abort', leave)
    leave()
  }
}
