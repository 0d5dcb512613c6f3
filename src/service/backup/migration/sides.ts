import type { ListedObject } from '../../../core/ports/bucket.ts'
import { byBytes } from '../../../core/text/byte-order.ts'
import { inOrder } from '../../maintenance/comparison/listing.ts'

/** An object of the source, of the target, or of both. */
export interface SidePair {
  source?: ListedObject
  target?: ListedObject
}

/** Joins two lists in the order of the bytes of their keys. Only one object of each is in memory. @throws Problem for another order */
export async function* joined(
  source: AsyncIterable<ListedObject>,
  target: AsyncIterable<ListedObject>,
): AsyncGenerator<SidePair & { key: ListedObject['key'] }> {
  const sides = [inOrder(source, ''), inOrder(target, '')] as const
  const nextOf = async (side: 0 | 1) => (await sides[side].next()).value as ListedObject | undefined
  try {
    let [one, other] = [await nextOf(0), await nextOf(1)]
    for (let next = one ?? other; next; next = one ?? other) {
      const order = one && other ? byBytes(one.key, other.key) : one ? -1 : 1
      const key = order <= 0 ? one?.key : other?.key
      yield {
        key: key ?? next.key,
        ...(one && order <= 0 ? { source: one } : {}),
        ...(other && order >= 0 ? { target: other } : {}),
      }
      if (order <= 0) one = await nextOf(0)
      if (order >= 0) other = await nextOf(1)
    }
  } finally {
    for (const side of sides) await side.return(undefined)
  }
}
