/** How many of something callers may have at the same time, counted by name: of an address, of a client, of all. */
export interface Places {
  /**
   * Takes one place of each of these limits, or none.
   * @returns a function that gives them back, to be called once; or the first limit without a free place
   */
  take<L extends PlaceLimit>(limits: readonly L[]): TakenPlaces<L>
}

export interface PlaceLimit {
  name: string
  atMost: number
}

export type TakenPlaces<L extends PlaceLimit> = { giveBack: () => void } | { full: L }

/** In the memory of one process. */
export function createPlaces(): Places {
  const taken = new Map<string, number>()

  function add(name: string, more: number): void {
    const count = (taken.get(name) ?? 0) + more
    if (count > 0) taken.set(name, count)
    else taken.delete(name)
  }

  return {
    take(limits) {
      const full = limits.find(({ name, atMost }) => (taken.get(name) ?? 0) >= atMost)
      if (full) return { full }
      for (const { name } of limits) add(name, 1)
      return {
        giveBack() {
          for (const { name } of limits) add(name, -1)
        },
      }
    },
  }
}
