import { NotYet } from '../../core/ports/jobs.ts'

/** Limits of concurrent calls. Times in milliseconds. */
export interface EventPlacesOptions {
  /** Concurrent calls per target. */
  perTarget: number
  /** A call that fails after more than this time counts as a timeout: the target does not respond. */
  hungMs: number
  /** Minimum delay of a call that found no free slot. */
  waitMs: number
}

/** Distributes the calls of this process among targets, so that a target that hangs does not block others. */
export interface EventPlaces {
  /**
   * Makes a call in a free slot of its target. Without a free slot, the call is not made: it is deferred while the target
   * responds, and fails while it hangs. A call that throws NotYet is no failure. The slot is freed when the call has ended or `signal` is aborted.
   *
   * @throws NotYet, Error, and the errors of `call`
   */
  take(target: string, signal: AbortSignal, call: () => Promise<void>): Promise<void>
}

interface Places {
  taken: number
  /** Number of consecutive calls that have timed out. */
  hung: number
  /** When the last of the deferred calls runs again, in milliseconds since 1970. */
  lastTurn: number
}

// A single timeout may be chance. From this number on, the target has one slot only, which tests whether it responds again.
const HUNG_IN_A_ROW = 3
// Deferred calls return one by one, 200 per second. Ten thousand that return at the same time, each for a millisecond and
// without a free slot, would block other targets.
const TURN_MS = 5

export function createEventPlaces({ perTarget, hungMs, waitMs }: EventPlacesOptions): EventPlaces {
  const targets = new Map<string, Places>()

  function placesOf(target: string): Places {
    const places = targets.get(target) ?? { taken: 0, hung: 0, lastTurn: 0 }
    targets.set(target, places)
    return places
  }

  /** A failure counts as an attempt, so that events for a dead target end by the retry policy. A deferral does not count. */
  function refusal(places: Places): Error {
    if (places.hung >= HUNG_IN_A_ROW) return new Error('not sent: the last requests to this target timed out')
    const now = Date.now()
    places.lastTurn = Math.max(now + waitMs, places.lastTurn + TURN_MS)
    return new NotYet(places.lastTurn - now)
  }

  return {
    async take(target, signal, call) {
      const places = placesOf(target)
      const limit = places.hung >= HUNG_IN_A_ROW ? 1 : perTarget
      if (places.taken >= limit) throw refusal(places)

      places.taken += 1
      let isFree = false
      const free = () => {
        if (!isFree) places.taken -= 1
        isFree = true
      }
      // A handler that ignores its signal must not keep its slot forever.
      signal.addEventListener('abort', free, { once: true })
      const since = performance.now()
      try {
        await call()
        places.hung = 0
      } catch (error) {
        const isHung = !(error instanceof NotYet) && performance.now() - since > hungMs
        places.hung = isHung ? places.hung + 1 : 0
        throw error
      } finally {
        signal.removeEventListener('abort', free)
        free()
        // A target that is idle and responds is like one that was never called.
        if (places.taken === 0 && places.hung === 0 && places.lastTurn <= Date.now()) targets.delete(target)
      }
    },
  }
}
