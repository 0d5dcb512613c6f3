import { LRUCache } from 'lru-cache'
import { type IRateLimiterOptions, RateLimiterMemory } from 'rate-limiter-flexible'
import type { RateLimiter } from '../../core/ports/rate-limiter.ts'
import { withVerdicts } from './verdicts.ts'

// A count takes 600 bytes, with its timer. A limit for each address does not stop a caller with more addresses than this.
const COUNTS_AT_MOST = 50_000

/** The limiter of the package, which forgets the counts that were not changed for the longest time. */
export class BoundedMemory extends RateLimiterMemory {
  readonly #keys: LRUCache<string, true>

  constructor(options: IRateLimiterOptions, { most = COUNTS_AT_MOST } = {}) {
    super(options)
    this.#keys = new LRUCache<string, true>({
      // With `max`, each limiter would allocate the places of all counts when the process starts: 7 ms and a megabyte.
      maxSize: most,
      sizeCalculation: () => 1,
      dispose: (_, key, reason) => void (reason === 'evict' && this.delete(key)),
    })
  }

  override consume(key: string | number, ...others: [points?: number, options?: Record<string, unknown>]) {
    this.#keys.set(String(key), true)
    return super.consume(key, ...others)
  }

  override penalty(key: string | number, ...others: [points?: number, options?: Record<string, unknown>]) {
    this.#keys.set(String(key), true)
    return super.penalty(key, ...others)
  }
}

/** Counts in the memory of this process. A restart resets the counts. */
export function memoryRateLimiter({ points, seconds }: { points: number; seconds: number }): RateLimiter {
  return withVerdicts(new BoundedMemory({ points, duration: seconds }), { points, seconds })
}
