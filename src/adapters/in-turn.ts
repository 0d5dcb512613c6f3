/** Runs pieces of work that share a key one after the other, in the order asked; others run side by side. */
export type InTurn = <T>(keys: readonly string[], work: () => Promise<T>) => Promise<T>

/** A queue per key, which is gone when nobody stands in it. */
export function createInTurn(): InTurn {
  const tails = new Map<string, Promise<unknown>>()
  return async (keys, work) => {
    // Standing in all queues at the same moment is what makes a deadlock impossible.
    const turn = Promise.allSettled(keys.map((key) => tails.get(key))).then(work)
    for (const key of keys) tails.set(key, turn)
    try {
      return await turn
    } finally {
      for (const key of keys) if (tails.get(key) === turn) tails.delete(key)
    }
  }
}
