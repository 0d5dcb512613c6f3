import type { ListedObject } from '../../core/ports/bucket.ts'
import { byBytes } from '../../core/text/byte-order.ts'

/** An object of the source, of the target, or of both. */
export interface SidePair {
  source?: ListedObject
  target?: ListedObject
}

/** Joins two lists that are both in the order of the bytes of their keys. Only one object of each is in memory. */
export async function* joined(
  source: AsyncIterable<ListedObject>,
  target: AsyncIterable<ListedObject>,
): AsyncGenerator<SidePair> {
  const sides = [source[Symbol.asyncIterator](), target[Symbol.asyncIterator]()] as const
  const nextOf = async (side: 0 | 1) => (await sides[side].next()).value as ListedObject | undefined
  try {
    let [one, other] = [await nextOf(0), await nextOf(1)]
    while (one || other) {
      const order = one && other ? byBytes(one.key, other.key) : one ? -1 : 1
      yield {
        ...(one && order <= 0 ? { source: one } : {}),
        ...(other && order >= 0 ? { target: other } : {}),
      }
      if (order <= 0) one = await nextOf(0)
      if (order >= 0) other = await nextOf(1)
    }
  } finally {
    for (const side of sides) await side.return?.()
  }
}
