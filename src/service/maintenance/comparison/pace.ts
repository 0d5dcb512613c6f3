import { setTimeout as pause } from 'node:timers/promises'

/** Makes work rest in proportion to what it has done, so that the requests of the same process are delayed little. */
export interface Pace {
  /** Called before the work: what the process has done until then is no work of it. */
  begin(): void
  /** Called between short pieces of work. @throws `signal.reason` */
  rest(signal: AbortSignal): Promise<void>
}

// A piece of work blocks a request for about as long as the request itself takes.
const LEAST_WORK_MS = 5
const REST_PER_WORK = 1
const MOST_REST_MS = 1000

/**
 * @param options.busy the milliseconds in which the event loop has worked since any moment, for all requests. So the work rests
 *   longer in a busy process
 * @param options.wait resolves after as many milliseconds
 */
export function createPace({
  busy = () => performance.eventLoopUtilization().active,
  wait = (ms, signal) => pause(ms, undefined, { signal }),
}: {
  busy?: () => number
  wait?: (ms: number, signal: AbortSignal) => Promise<unknown>
} = {}): Pace {
  let since = busy()
  let resting: Promise<unknown> | undefined
  return {
    begin() {
      since = busy()
    },
    async rest(signal) {
      signal.throwIfAborted()
      const worked = busy() - since
      if (worked >= LEAST_WORK_MS && !resting)
        resting = wait(Math.min(MOST_REST_MS, worked * REST_PER_WORK), signal).finally(() => {
          since = busy()
          resting = undefined
        })
      try {
        await resting
      } catch (error) {
        signal.throwIfAborted()
        throw error
      }
    },
  }
}
