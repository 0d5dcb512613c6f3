import type { SingleFlight } from './single-flight.ts'

/** The result of a piece of shared work, while it is in use. */
export interface Held<T> {
  value: T
  /** Releases it. Further calls have no effect. */
  release(): void
}

/** Pieces of shared work by name, whose results must be released after use, such as temporary files. */
export interface RefCounted<T> {
  /**
   * Joins the work of this name that has no result yet, or starts it.
   * @param start begins the work
   * @throws the error of the work, or `signal.reason` when this caller aborts first
   */
  hold(name: string, start: () => Startable<T>, signal: AbortSignal): Promise<Held<T>>
  /**
   * Resolves when everything that is no longer used has been released. It does not wait for results that are still in
   * use.
   */
  idle(): Promise<void>
}

export interface Startable<T> {
  work: SingleFlight<T>
  /** Releases the resources of the work. Called once, also after a failure. */
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
    // Callers that come after the end need the state of that time, so they start new work.
    void use.work.ended.then(() => {
      if (joinable.get(name) === use) joinable.delete(name)
    })
    return use
  }

  function leave(use: Use<T>): void {
    use.users -= 1
    if (use.users > 0) return
    const ended = use.work.ended
      // A caller may have joined between its last user's release and the end of the work.
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
