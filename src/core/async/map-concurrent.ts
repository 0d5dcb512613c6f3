/**
 * Runs `work` for each item, up to `concurrency` at a time, and yields the results in the order of the items. It
 * reads an item only when a place is free for it, so that a list of any length needs little memory.
 *
 * @throws the error of the first item that failed, or `signal.reason`; running work is awaited first
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
      // The result is awaited in its turn. Until then a rejection must not count as unhandled.
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
