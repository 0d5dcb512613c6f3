/** Sends items in batches: those that arrive while a batch is in flight are in the next one. */
export interface Batches<T> {
  /**
   * Resolves when the batch with this item was sent. Rejects with the error of its batch, or with the reason of `signal` when it aborts
   * before the item is sent.
   */
  add(item: T, signal: AbortSignal): Promise<void>
}

interface Waiting<T> {
  item: T
  signal: AbortSignal
  done: () => void
  failed: (error: unknown) => void
}

/**
 * @param options.max items in a batch
 * @param options.atOnce batches in flight
 * @param options.send `signal` aborts when those of all items have aborted
 * @param options.mayDivide whether a batch with this error is sent again in two halves, since a single item may be the reason
 */
export function createBatches<T>({
  max,
  atOnce,
  send,
  mayDivide = () => false,
}: {
  max: number
  atOnce: number
  send(items: readonly T[], signal: AbortSignal): Promise<void>
  mayDivide?(error: unknown): boolean
}): Batches<T> {
  const waiting = new Set<Waiting<T>>()
  let inFlight = 0
  let isScheduled = false

  async function sendBatch(batch: ReadonlyArray<Waiting<T>>): Promise<void> {
    const { signal, stop } = abortedAll(batch.map((one) => one.signal))
    try {
      await send(
        batch.map(({ item }) => item),
        signal,
      )
      for (const { done } of batch) done()
    } catch (error) {
      if (batch.length > 1 && mayDivide(error)) {
        const half = Math.ceil(batch.length / 2)
        await sendBatch(batch.slice(0, half))
        await sendBatch(batch.slice(half))
      } else for (const { failed } of batch) failed(error)
    } finally {
      stop()
    }
  }

  function next(): void {
    inFlight -= 1
    begin()
  }

  function begin(): void {
    isScheduled = false
    while (waiting.size > 0 && inFlight < atOnce) {
      const batch = [...waiting].slice(0, max)
      for (const one of batch) waiting.delete(one)
      inFlight += 1
      sendBatch(batch).then(next, next)
    }
  }

  return {
    add(item, signal) {
      return new Promise((resolve, reject) => {
        const leave = () => signal.removeEventListener('abort', aborted)
        const one: Waiting<T> = {
          item,
          signal,
          done() {
            leave()
            resolve()
          },
          failed(error) {
            leave()
            reject(error)
          },
        }
        const aborted = () => {
          if (waiting.delete(one)) one.failed(signal.reason)
        }
        if (signal.aborted) return reject(signal.reason)
        signal.addEventListener('abort', aborted, { once: true })
        waiting.add(one)
        // Further items may arrive in the same turn of the event loop.
        if (!isScheduled) setImmediate(begin)
        isScheduled = true
      })
    },
  }
}

/** A signal that aborts when all of these have aborted. */
function abortedAll(signals: readonly AbortSignal[]): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController()
  const check = () => {
    const [last] = signals
    if (signals.every(({ aborted }) => aborted)) controller.abort(last?.reason)
  }
  for (const signal of signals) signal.addEventListener('abort', check, { once: true })
  check()
  const stop = () => {
    for (const signal of signals) signal.removeEventListener('abort', check)
  }
  return { signal: controller.signal, stop }
}
