/** An item that waits for its time. */
export interface Due {
  /** Milliseconds since 1970. */
  dueAt: number
  /** Orders items that are due in the same millisecond. */
  turn: number
}

/** A priority queue: returns items in the order in which they are due. */
export interface DueQueue<T extends Due> {
  add(item: T): void
  /** The item that is due first. */
  first(): T | undefined
  removeFirst(): void
}

/** A binary heap: no item is due before its parent, which is at half its index. */
export function createDueQueue<T extends Due>(): DueQueue<T> {
  // Index 0 is unused.
  const heap: T[] = []
  const isBefore = (a: number, b: number) => {
    const [one, other] = [heap[a] as T, heap[b] as T]
    return one.dueAt === other.dueAt ? one.turn < other.turn : one.dueAt < other.dueAt
  }
  const swap = (a: number, b: number) => {
    ;[heap[a], heap[b]] = [heap[b] as T, heap[a] as T]
  }
  return {
    add(item) {
      let place = Math.max(heap.length, 1)
      heap[place] = item
      for (let parent = place >> 1; parent >= 1 && isBefore(place, parent); parent = place >> 1) {
        swap(place, parent)
        place = parent
      }
    },
    first: () => heap[1],
    removeFirst() {
      const last = heap.pop()
      if (last === undefined || heap.length <= 1) return
      heap[1] = last
      for (let place = 1; ; ) {
        let least = place
        for (const child of [2 * place, 2 * place + 1])
          if (child < heap.length && isBefore(child, least)) least = child
        if (least === place) return
        swap(place, least)
        place = least
      }
    },
  }
}
