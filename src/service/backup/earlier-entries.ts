import { byOrder } from './manifest.ts'

interface Place {
  client: string
  key: string
}

/** Entries of an earlier run, read in step with a list. */
export interface EarlierEntries<T extends Place> {
  /** The entry of this place. It must come after those of earlier calls. */
  at(place: Place): Promise<T | undefined>
  /** The entries after those of earlier calls. */
  rest(): AsyncGenerator<T>
}

/** @param entries in the order of {@link byOrder} @param absent called for each entry of which no list has the place any more */
export function earlierEntries<T extends Place>(
  entries: AsyncIterable<T>,
  absent: (entry: T) => void = () => {},
): EarlierEntries<T> {
  const reading = entries[Symbol.asyncIterator]()
  let next: Promise<T | undefined> | undefined
  const advance = () => {
    next = reading.next().then(({ value, done }) => (done ? undefined : value))
    return next
  }
  return {
    async at(place) {
      let found = await (next ?? advance())
      for (; found && byOrder(found, place) < 0; found = await advance()) absent(found)
      if (!found || byOrder(found, place) !== 0) return undefined
      next = undefined
      return found
    },
    async *rest() {
      for (let found = await (next ?? advance()); found; found = await advance()) yield found
    },
  }
}
