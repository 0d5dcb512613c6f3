import { NotYet } from '../../core/ports/jobs.ts'

export interface EventPlacesOptions {
  /** Calls of one target at a time. */
  perTarget: number
  /** A call that fails later than this has hung: the target does not answer. */
  hungMs: number
  /** How long a call without a place waits at least. */
  waitMs: number
}

/** Shares out the calls of this process among targets, so that one that hangs holds up no other. */
export interface EventPlaces {
  /**
   * Makes a call in a place of its target. Without one it is not made: it is put off while the target answers, and has
   * failed when that hangs. The place is free when the call is over, or `signal` is aborted.
   *
   * @throws NotYet, Error, and what `call` throws
   */
  take(target: string, signal: AbortSignal, call: () => Promise<void>): Promise<void>
}

interface Places {
  taken: number
  /** Calls in a row that have hung. */
  hung: number
  /** When the last one of those that were put off comes again. */
  lastTurn: number
}

// One may be chance. From here on the target has a single place, in which it is asked whether it answers again.
const HUNG_IN_A_ROW = 3
// Those without a place come again one by one, 200 a second: ten thousand that all come at once, each for a
// millisecond and in vain, would be the next thing the others wait for.
const TURN_MS = 5

export function createEventPlaces({ perTarget, hungMs, waitMs }: EventPlacesOptions): EventPlaces {
  const targets = new Map<string, Places>()

  function placesOf(target: string): Places {
    const places = targets.get(target) ?? { taken: 0, hung: 0, lastTurn: 0 }
    targets.set(target, places)
    return places
  }

  /** A failure counts as a try, so that what waits for a dead target ends with the plan; a wait does not. */
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
      // A handler that does not listen must not keep its place for good.
      signal.addEventListener('abort', free, { once: true })
      const since = performance.now()
      try {
        await call()
        places.hung = 0
      } catch (error) {
        places.hung = performance.now() - since > hungMs ? places.hung + 1 : 0
        throw error
      } finally {
        signal.removeEventListener('abort', free)
        free()
      }
    },
  }
}
