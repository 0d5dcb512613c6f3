/** Sends items in batches: those that arrive while a batch is in flight are in the next one. */
export interface Batches<T> {
  /** Resolves when the batch with this item was sent. Rejects with the error of its batch. */
  add(item: T): Promise<void>
}

/**
 * @param options.max items in a batch
 * @param options.atOnce batches in flight
 */
export function createBatches<T>({
  max,
  atOnce,
  send,
}: {
  max: number
  atOnce: number
  send(items: readonly T[]): Promise<void>
}): Batches<T> {
  const waiting: Array<{ item: T; done: () => void; failed: (error: unknown) => void }> = []
  let inFlight = 0
  let isScheduled = false

  function begin(): void {
    isScheduled = false
    while (waiting.length > 0 && inFlight < atOnce) {
      const batch = waiting.splice(0, max)
      inFlight += 1
      send(batch.map(({ item }) => item))
        .then(
          () => {
            for (const { done } of batch) done()
          },
          (error) => {
            for (const { failed } of batch) failed(error)
          },
        )
        .finally(() => {
          inFlight -= 1
          begin()
        })
    }
  }

  return {
    add(item) {
      return new Promise((done, failed) => {
        waiting.push({ item, done, failed })
        // Further items may arrive in the same turn of the event loop.
        if (!isScheduled) setImmediate(begin)
        isScheduled = true
      })
    },
  }
}
