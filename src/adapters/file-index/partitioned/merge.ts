/** A part of a sorted list. */
export interface Piece<T> {
  /** In the order of the list. */
  items: ReadonlyArray<Placed<T>>
  /** The position up to which the list was read (inclusive); undefined at its end. */
  next: string | undefined
}

/** An item with its position: a text that is compared by its bytes in UTF-8. */
export interface Placed<T> {
  position: string
  item: T
}

/** Lists to merge: those of several partitions. */
export interface MergeRequest<List, T> {
  lists: readonly List[]
  direction?: 'up' | 'down' | undefined
  /** The position after which the merged part begins. */
  after?: string | undefined
  /** The most items, at least 1. There may be fewer where the lists leave out items. */
  limit: number
  /** Reads at most `limit` positions of a list. */
  read(list: List, range: { after: string | undefined; limit: number }): Promise<Piece<T>>
  /** Combines two items of the same position. Default: no position is in two lists. */
  combine?: (one: T, other: T) => T
}

// The lists have about equally many of the next items. A few more are read, since they do not have exactly as many.
const SPARE = 3

/**
 * Merges sorted lists. Each is asked for its share, and again if it has more of the next items than others. So a part of 50 items of
 * 64 lists needs 256 positions, and rarely a second question.
 *
 * @returns `next`: the position after which the next part begins; undefined at the end of all lists
 */
export async function mergeSorted<List, T>(request: MergeRequest<List, T>): Promise<Piece<T>> {
  const { lists, direction = 'up', after, limit, read, combine } = request
  const sign = direction === 'up' ? 1 : -1
  const order = (one: Sortable, other: Sortable) => sign * Buffer.compare(one.bytes, other.bytes)
  const share = Math.min(limit, Math.ceil(limit / lists.length) + SPARE)
  const found = new Map<string, Sortable & Placed<T>>()
  /** How far the lists were read that have more. */
  const readTo = new Map<List, Sortable>()
  const readNext = async (list: List) => {
    const piece = await read(list, { after: readTo.get(list)?.position ?? after, limit: share })
    if (piece.next === undefined) readTo.delete(list)
    else readTo.set(list, sortable(piece.next))
    for (const { position, item } of piece.items) {
      const known = found.get(position)
      found.set(position, {
        ...sortable(position),
        item: known && combine ? combine(known.item, item) : item,
      })
    }
  }
  let asking = lists
  // Where many positions have no item, a part with fewer items is returned.
  for (let budget = limit + lists.length * share; ; ) {
    budget -= asking.length * share
    await Promise.all(asking.map(readNext))
    const sorted = [...found.values()].sort(order)
    // Beyond the list that was read the least, others may have items that come first.
    const [least] = [...readTo.values()].sort(order)
    const complete = least ? sorted.filter((one) => order(one, least) <= 0) : sorted
    if (complete.length >= limit || !least || budget <= 0) {
      const items = complete.slice(0, limit)
      const isAll = !least && items.length === sorted.length
      const last = items.length === limit ? items.at(-1) : least
      return { items, next: isAll ? undefined : last?.position }
    }
    const wanted = sorted[limit - 1]
    asking = lists.filter((list) => {
      const position = readTo.get(list)
      return position && (!wanted || order(position, wanted) < 0)
    })
  }
}

/** A position with its bytes: they are compared many times. */
interface Sortable {
  position: string
  bytes: Buffer
}

function sortable(position: string): Sortable {
  return { position, bytes: Buffer.from(position) }
}
