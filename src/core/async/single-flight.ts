import { unavailable } from '../problem.ts'

/**
 * One piece of work that several callers wait for. All of them get the same result or error. The work is aborted when
 * its last caller has left before the result; it continues when only some have left. After the result it runs to its
 * end, for example a put that finishes after the image was sent.
 */
export interface SingleFlight<T> {
  /**
   * Waits for the result.
   * @throws the error of the work, or `signal.reason` when this caller aborts first
   */
  join(signal?: AbortSignal): Promise<T>
  /** Settles when the work has ended, with success or failure; never rejects. */
  readonly ended: Promise<void>
  /** Whether the work was aborted without a result, so that it is too late to join. */
  readonly abandoned: boolean
}

/** Pieces of shared work by name, at most one of each name at a time. */
export interface SingleFlights<T> {
  /** Joins the work of this name, or starts it. */
  join(name: string, start: () => SingleFlight<T>, signal?: AbortSignal): Promise<T>
  /** Whether work of this name has not ended yet. */
  isUnderWay(name: string): boolean
  /** Resolves when the work of this name has ended, with success or failure; at once when there is no such work. */
  ended(name: string): Promise<void>
  /** Resolves when no work is left. */
  idle(): Promise<void>
}

export function createSingleFlights<T>(): SingleFlights<T> {
  const works = new Map<string, SingleFlight<T>>()
  return {
    async join(name, start, signal) {
      for (let work = works.get(name); work?.abandoned; work = works.get(name)) {
        const left = rejectOnAbort(signal)
        await Promise.race([work.ended, left.promise]).finally(left.stop)
      }
      // Work is not started for a caller that has aborted already: no abort of a caller would ever stop it.
      signal?.throwIfAborted()
      let work = works.get(name)
      if (!work) {
        work = start()
        works.set(name, work)
        void work.ended.then(() => works.delete(name))
      }
      return work.join(signal)
    },
    isUnderWay: (name) => works.has(name),
    async ended(name) {
      await works.get(name)?.ended
    },
    async idle() {
      while (works.size > 0) await Promise.all([...works.values()].map(({ ended }) => ended))
    },
  }
}

/**
 * Starts `work` at once. It must call `respond` before it returns. An error before `respond` is thrown to all callers;
 * an error after it goes to `onLateFailure`.
 *
 * @param limitMs aborts the work after this time, with Problem 503
 */
export function singleFlight<T>(
  work: (signal: AbortSignal, respond: (value: T) => void) => Promise<void>,
  { limitMs, onLateFailure }: { limitMs: number; onLateFailure?: (error: unknown) => void },
): SingleFlight<T> {
  const controller = new AbortController()
  let waiters = 0
  let settled = false
  const timer = setTimeout(() => controller.abort(unavailable('The work timed out.')), limitMs)

  let end: Promise<void> = Promise.resolve()
  const result = new Promise<T>((resolve, reject) => {
    const settle = (value: T) => {
      // After an abort this result is too late: the callers have received the abort, and later callers would receive
      // it too.
      if (controller.signal.aborted) return
      settled = true
      resolve(value)
    }
    // Some work cannot be stopped at once (an encoder). Its callers must not wait for it after an abort.
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
    // A single async function, so that its promise settles before a result of its last step reaches a caller. A
    // caller that asks again after that finds this work ended.
    end = (async () => {
      // Begin one microtask later, so that the first caller has joined before the work checks for callers.
      await null
      try {
        await work(controller.signal, settle)
        if (!settled) reject(new Error('the work ended without a result'))
      } catch (error) {
        if (settled) onLateFailure?.(error)
        else reject(error)
      } finally {
        clearTimeout(timer)
      }
    })()
  })
  // Callers that joined receive the error. Without callers it must not count as unhandled.
  result.catch(() => {})

  return {
    ended: end,
    get abandoned() {
      return controller.signal.aborted && !settled
    },
    async join(signal) {
      signal?.throwIfAborted()
      waiters += 1
      const left = rejectOnAbort(signal)
      try {
        return await Promise.race([result, left.promise])
      } finally {
        left.stop()
        waiters -= 1
        if (waiters === 0 && !settled)
          controller.abort(new DOMException('no caller waits any more', 'AbortError'))
      }
    },
  }
}

/** Returns a promise that rejects with the signal's reason when the signal aborts. */
function rejectOnAbort(signal: AbortSignal | undefined): { promise: Promise<never>; stop: () => void } {
  let listener: () => void = () => {}
  const promise = new Promise<never>((_, reject) => {
    listener = () => reject(signal?.reason)
    if (signal?.aborted) listener()
    signal?.addEventListener('abort', listener, { once: true })
  })
  promise.catch(() => {})
  return { promise, stop: () => signal?.removeEventListener('abort', listener) }
}
