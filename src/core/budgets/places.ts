/** Limits of things in use at the same time, counted by name: per IP address, per client, in total. */
export interface Places {
  /**
   * Takes one place of each of these limits, or no place at all.
   * @returns `giveBack`, which releases the places and must be called once; or `full`, the first limit without a free
   *   place
   */
  take<L extends PlaceLimit>(limits: readonly L[]): TakenPlaces<L>
}

export interface PlaceLimit {
  name: string
  atMost: number
}

export type TakenPlaces<L extends PlaceLimit> = { giveBack: () => void } | { full: L }

/** Counts in the memory of one process. */
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
