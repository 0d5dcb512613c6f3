import { boundedCache } from '../../core/budgets/bounded-cache.ts'
import type { DeliveryRequest, StoredSource } from '../delivery/deliveries.ts'

/** What a request for a derivative has stated: enough to plan it again. */
export type Wish = Pick<DeliveryRequest, 'query' | 'preferences'>

/** Counts the deliveries of each derivative by this process. */
export interface OftenDelivered {
  /** Counts a delivery. @param wish absent for a repeated response: an earlier one has stated it */
  count(source: StoredSource, wish?: Wish): void
}

// About 10,000 derivatives. Those that were not delivered for the longest time are forgotten.
const MOST_BYTES = 5_000_000

/**
 * @param after the number of deliveries after which `found` is called, from 1; it is called again after as many further ones
 */
export function createOftenDelivered({
  after,
  found,
}: {
  after: number
  found: (source: StoredSource, wish: Wish) => void
}): OftenDelivered {
  const counts = boundedCache<{ wish: Wish; count: number }>({
    maxBytes: MOST_BYTES,
    bytesOf: ({ wish }) => 2 * JSON.stringify(wish).length,
  })
  return {
    count(source, wish) {
      const name = `${source.clientId} ${source.derivative}`
      const known = counts.get(name) ?? (wish && { wish: detached(wish), count: 0 })
      if (!known) return
      known.count += 1
      if (known.count === 1) counts.set(name, known)
      if (known.count % after === 0) found(source, known.wish)
    },
  }
}

/** Texts of their own: a part of a URL would hold the whole of it in memory, with parameters that are ignored. */
function detached({ query, preferences }: Wish): Wish {
  return JSON.parse(JSON.stringify({ query, preferences }))
}
