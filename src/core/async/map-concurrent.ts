/**
 * Does `work` for each item, several at a time, and gives the outcomes in the order of the items. No more items are
 * taken than are being worked on or wait to be read, so that a list of any length needs little memory.
 *
 * @throws what the first failing work threw, or `signal.reason`; what runs is waited for first
 */
export async function* mapConcurrent<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  { concurrency, signal, work }: { concurrency: number; signal?: AbortSignal; work: (item: T) => Promise<R> },
): AsyncGenerator<R> {
  const running: Promise<R>[] = []
  try {
    for await (const item of items) {
      signal?.throwIfAborted()
      const outcome = work(item)
      // Looked at when its turn comes; until then a failure must not count as nobody's.
      outcome.catch(() => {})
      running.push(outcome)
      if (running.length >= concurrency) yield await (running.shift() as Promise<R>)
    }
    while (running.length > 0) {
      signal?.throwIfAborted()
      yield await (running.shift() as Promise<R>)
    }
  } finally {
    await Promise.allSettled(running)
  }
}
