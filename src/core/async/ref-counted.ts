import type { SingleFlight } from './single-flight.ts'

/** What a piece of shared work has made, for as long as it is used. */
export interface Held<T> {
  value: T
  /** Lets go of it; more than once does no harm. */
  release(): void
}

/** Pieces of shared work by name whose outcomes have to be given back, temporary files for example. */
export interface RefCounted<T> {
  /**
   * Joins the work of this name that has no answer yet, starting it when there is none.
   * @param start begins the work
   * @throws the work's failure, or `signal.reason` when this caller leaves first
   */
  hold(name: string, start: () => Startable<T>, signal: AbortSignal): Promise<Held<T>>
  /** Resolves when all that has been let go of has been given back: what is still used does not hold it up. */
  idle(): Promise<void>
}

export interface Startable<T> {
  work: SingleFlight<T>
  /** Gives back what the work has taken; called once, also after a failure. */
  end(): Promise<void>
}

interface Use<T> extends Startable<T> {
  users: number
}

export function createRefCounted<T>(): RefCounted<T> {
  const joinable = new Map<string, Use<T>>()
  const ending = new Set<Promise<void>>()
  const inUse = new Set<Use<T>>()

  function begin(name: string, start: () => Startable<T>): Use<T> {
    const use: Use<T> = { ...start(), users: 0 }
    joinable.set(name, use)
    inUse.add(use)
    // Whoever comes later wants what is there by then.
    void use.work.ended.then(() => {
      if (joinable.get(name) === use) joinable.delete(name)
    })
    return use
  }

  function leave(use: Use<T>): void {
    use.users -= 1
    if (use.users > 0) return
    const ended = use.work.ended
      // Somebody may have joined before the work was at its end.
      .then(() => (use.users === 0 && inUse.delete(use) ? use.end() : undefined))
      .finally(() => ending.delete(ended))
    ending.add(ended)
  }

  return {
    async hold(name, start, signal) {
      signal.throwIfAborted()
      const known = joinable.get(name)
      const use = known && !known.work.abandoned ? known : begin(name, start)
      use.users += 1
      let held = true
      const release = () => {
        if (held) leave(use)
        held = false
      }
      try {
        return { value: await use.work.join(signal), release }
      } catch (error) {
        release()
        throw error
      }
    },
    async idle() {
      while (ending.size > 0) await Promise.all(ending)
    },
  }
}
