/** Runs pieces of work that share a key one after the other, in the order of the calls. Others run concurrently. */
export type InTurn = <T>(keys: readonly string[], work: () => Promise<T>) => Promise<T>

/** Keeps a queue per key, and removes it when it is empty. */
export function createInTurn(): InTurn {
  const tails = new Map<string, Promise<unknown>>()
  return async (keys, work) => {
    // A call joins all its queues in the same turn of the event loop, so no deadlock is possible.
    const turn = Promise.allSettled(keys.map((key) => tails.get(key))).then(work)
    for (const key of keys) tails.set(key, turn)
    try {
      return await turn
    } finally {
      for (const key of keys) if (tails.get(key) === turn) tails.delete(key)
    }
  }
}
