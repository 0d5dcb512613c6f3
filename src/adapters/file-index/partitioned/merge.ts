/** A page of a sorted list. */
export interface ListPage<T> {
  /** In the order of the list. */
  items: ReadonlyArray<Positioned<T>>
  /** The position up to which the list was read (inclusive); undefined at its end. */
  next: string | undefined
  /** Positions that were read of all lists, at most. Absent for a page of a single list: its limit. */
  looked?: number
}

/** An item with its position: a text that is compared by its bytes in UTF-8. */
export interface Positioned<T> {
  position: string
  item: T
}

/** Where a page begins (exclusive; absent: at the beginning of the list), and its most items, at least 1. */
export interface PageRange {
  after?: string
  limit: number
}

/** Lists to merge: those of several partitions. */
export interface MergeRequest<List, T> extends PageRange {
  lists: readonly List[]
  direction?: 'up' | 'down'
  /** Reads at most `limit` positions of a list. Those without an item are left out. */
  read(list: List, range: PageRange): Promise<ListPage<T>>
  /** Combines two items of the same position. Default: one of them. */
  combine?: (one: T, other: T) => T
}

// The lists have about equally many of the next items. A few more are read, since they do not have exactly as many.
const SPARE = 5

/**
 * Merges sorted lists. Each is read for its share, and again if it has more of the next items than others: for 50 items of 64 lists,
 * six positions of each, and in about one of a hundred cases some more of a few lists.
 *
 * @returns fewer items than `limit` at the end, and where the lists have left out many. `next`: where the next page begins; undefined
 *   at the end of all lists
 */
export async function mergeSorted<List, T>(request: MergeRequest<List, T>): Promise<ListPage<T>> {
  const { lists, after, limit, read, combine } = request
  // Lists with common positions have no shares.
  const perList = combine ? limit : Math.min(limit, Math.ceil(limit / lists.length) + SPARE)
  const found = collected<T>(request)
  /** How far the lists were read that have more. */
  const readTo = new Map<List, Sortable>()
  const readNext = async (list: List) => {
    const from = readTo.get(list)?.position ?? after
    const page = await read(list, { ...(from === undefined ? {} : { after: from }), limit: perList })
    if (page.next === undefined) readTo.delete(list)
    else readTo.set(list, sortable(page.next))
    found.add(page.items)
  }
  let reading = lists
  let looked = 0
  for (let budget = limit + lists.length * perList; ; ) {
    budget -= reading.length * perList
    looked += reading.length * perList
    await Promise.all(reading.map(readNext))
    const page = found.upTo([...readTo.values()])
    if (page.items.length >= limit || readTo.size === 0 || budget <= 0) return { ...page, looked }
    const wanted = found.sorted()[limit - 1]
    reading = lists.filter((list) => {
      const position = readTo.get(list)
      return position && (!wanted || found.order(position, wanted) < 0)
    })
  }
}

export interface JoinRequest<T> extends Pick<MergeRequest<never, T>, 'direction' | 'limit' | 'combine'> {
  /** Of two items with the same name, that of the second page is returned. Absent: their positions are their names. */
  nameOf?: (item: T) => string
}

/**
 * Joins two pages of different lists that begin at the same place. Where they have an item of the same position, it is combined, or
 * that of the second one.
 */
export function joinPages<T>(
  [first, second]: readonly [ListPage<T>, ListPage<T>],
  request: JoinRequest<T>,
): ListPage<T> {
  const { nameOf } = request
  const found = collected<T>(request)
  const names = new Set(nameOf ? second.items.map(({ item }) => nameOf(item)) : [])
  found.add(nameOf ? first.items.filter(({ item }) => !names.has(nameOf(item))) : first.items)
  found.add(second.items)
  const page = found.upTo([first, second].flatMap(({ next }) => (next === undefined ? [] : [sortable(next)])))
  return { ...page, looked: (first.looked ?? request.limit) + (second.looked ?? request.limit) }
}

/** The items of several lists that were read so far. */
function collected<T>({
  direction = 'up',
  limit,
  combine,
}: Pick<MergeRequest<never, T>, 'direction' | 'limit' | 'combine'>) {
  const sign = direction === 'up' ? 1 : -1
  const order = (one: Sortable, other: Sortable) => sign * Buffer.compare(one.bytes, other.bytes)
  const found = new Map<string, Sortable & Positioned<T>>()
  const sorted = () => [...found.values()].sort(order)
  return {
    order,
    sorted,
    add(items: ListPage<T>['items']) {
      for (const { position, item } of items) {
        const known = found.get(position)
        found.set(position, {
          ...sortable(position),
          item: known && combine ? combine(known.item, item) : item,
        })
      }
    },
    /** The page of these items. @param readTo how far each list was read that has more */
    upTo(readTo: readonly Sortable[]): ListPage<T> {
      const all = sorted()
      // Beyond the list that was read the least, others may have items that come first.
      const [least] = [...readTo].sort(order)
      const complete = least ? all.filter((one) => order(one, least) <= 0) : all
      const items = complete.slice(0, limit)
      const isAll = !least && items.length === all.length
      const last = items.length === limit ? items.at(-1) : least
      return { items, next: isAll ? undefined : last?.position }
    },
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
