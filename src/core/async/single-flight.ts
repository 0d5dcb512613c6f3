import { unavailable } from '../problem.ts'

/**
 * One piece of work that several callers wait for. Everyone gets the same answer, failures included. The work is
 * aborted when its last waiter has left before the answer, not when the first one leaves; once answered, it runs on
 * to its end (a put that finishes after the picture was sent).
 */
export interface SingleFlight<T> {
  /**
   * Waits for the answer.
   * @throws the work's failure, or `signal.reason` when this caller leaves first
   */
  join(signal?: AbortSignal): Promise<T>
  /** Settles when the work has come to its end, well or not; never rejects. */
  readonly ended: Promise<void>
  /** Whether it was aborted without an answer: too late to join. */
  readonly abandoned: boolean
}

/** Pieces of shared work by name, at most one of each at a time. */
export interface SingleFlights<T> {
  /** Joins the work of this name, starting it when there is none. */
  join(name: string, start: () => SingleFlight<T>, signal?: AbortSignal): Promise<T>
  /** Whether there is work of this name that has not come to its end. */
  isUnderWay(name: string): boolean
  /** Resolves when the work of this name, if there is one, has come to its end, well or not. */
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
      // Nothing is started for one who has left already: it would have nobody whose leaving could stop it.
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
 * Starts `work` at once. It must call `answer` before it returns; a rejection
 * before the answer is the answer of all waiters, one after it goes to `onLateFailure`.
 */
export function singleFlight<T>(
  work: (signal: AbortSignal, answer: (value: T) => void) => Promise<void>,
  { limitMs, onLateFailure }: { limitMs: number; onLateFailure?: (error: unknown) => void },
): SingleFlight<T> {
  const controller = new AbortController()
  let waiters = 0
  let answered = false
  const timer = setTimeout(() => controller.abort(unavailable('The work timed out.')), limitMs)

  let end: Promise<void> = Promise.resolve()
  const answer = new Promise<T>((resolve, reject) => {
    const settle = (value: T) => {
      // Too late: the waiters have been told of the abort, and so would be whoever joined now.
      if (controller.signal.aborted) return
      answered = true
      resolve(value)
    }
    // Work that cannot be stopped in its tracks (an encoder) must not keep those who wait for it.
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
    // One function, whose promise settles before an answer given in its last step has reached a waiter: who asks
    // again after that finds this work ended.
    end = (async () => {
      // A promise turn later, so that the first caller has joined by the time the work can look at its waiters.
      await null
      try {
        await work(controller.signal, settle)
        if (!answered) reject(new Error('the work ended without a result'))
      } catch (error) {
        if (answered) onLateFailure?.(error)
        else reject(error)
      } finally {
        clearTimeout(timer)
      }
    })()
  })
  // The failure reaches whoever has joined; without a waiter it is nobody's.
  answer.catch(() => {})

  return {
    ended: end,
    get abandoned() {
      return controller.signal.aborted && !answered
    },
    async join(signal) {
      signal?.throwIfAborted()
      waiters += 1
      const left = rejectOnAbort(signal)
      try {
        return await Promise.race([answer, left.promise])
      } finally {
        left.stop()
        waiters -= 1
        if (waiters === 0 && !answered)
          controller.abort(new DOMException('no caller waits any more', 'AbortError'))
      }
    },
  }
}

/** A promise that rejects with the signal's reason when it is aborted. */
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
