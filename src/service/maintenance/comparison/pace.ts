import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as pause } from 'node:timers/promises'

/** Makes work rest in proportion to what it has done, so that the requests of the same process are delayed little. */
export interface Pace {
  /** Called before the work: what the process has done until then is no work of it. */
  begin(): void
  /**
   * Called between short pieces of work.
   * @param options.isUrgent other requests wait for the work, so it does not rest longer because of requests
   * @throws `signal.reason`
   */
  rest(signal: AbortSignal, options?: { isUrgent: boolean }): Promise<void>
  /** Called after the work. */
  end(): void
}

const LEAST_WORK_MS = 5
const REST_PER_WORK = 1
// A piece of work delays a request by several times what the request itself takes. Nine of ten requests come during a rest.
const REST_AMONG_REQUESTS = 9
const RECENT_MS = 1000
const MOST_REST_MS = 1000

/**
 * @param options.busy the milliseconds in which the event loop has worked since any moment, for all requests. So the work rests
 *   longer in a busy process
 * @param options.wait resolves after as many milliseconds
 * @param options.watchRequests calls its argument for each request that this process receives, until the returned function is called
 * @param options.now milliseconds of a clock that never goes back
 */
export function createPace({
  busy = () => performance.eventLoopUtilization().active,
  wait = (ms, signal) => pause(ms, undefined, { signal }),
  watchRequests = watchServers,
  now = () => performance.now(),
}: {
  busy?: () => number
  wait?: (ms: number, signal: AbortSignal) => Promise<unknown>
  watchRequests?: (noted: () => void) => () => void
  now?: () => number
} = {}): Pace {
  let since = busy()
  let resting: Promise<unknown> | undefined
  let requestedAt = Number.NEGATIVE_INFINITY
  let unwatch: (() => void) | undefined
  return {
    begin() {
      since = busy()
      unwatch ??= watchRequests(() => {
        requestedAt = now()
      })
    },
    async rest(signal, { isUrgent } = { isUrgent: false }) {
      signal.throwIfAborted()
      const worked = busy() - since
      if (worked >= LEAST_WORK_MS && !resting) {
        const isAlone = isUrgent || now() - requestedAt > RECENT_MS
        const restMs = Math.min(MOST_REST_MS, worked * (isAlone ? REST_PER_WORK : REST_AMONG_REQUESTS))
        resting = wait(restMs, signal).finally(() => {
          since = busy()
          resting = undefined
        })
      }
      try {
        await resting
      } catch (error) {
        signal.throwIfAborted()
        throw error
      }
    },
    end() {
      unwatch?.()
      unwatch = undefined
    },
  }
}

function watchServers(noted: () => void): () => void {
  const started = () => noted()
  subscribe('http.server.request.start', started)
  return () => unsubscribe('http.server.request.start', started)
}
