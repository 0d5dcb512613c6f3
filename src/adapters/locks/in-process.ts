import { createSingleFlights, type SingleFlight, singleFlight } from '../../core/async/single-flight.ts'
import type { Locks, ShareOptions } from '../../core/ports/locks.ts'

/** Locks within one process. Holder and waiters die together, so no lease needs renewal. */
export function inProcessLocks(): Locks {
  const held = createSingleFlights<unknown>()
  return {
    async share<T>(
      name: string,
      work: (signal: AbortSignal) => Promise<T>,
      { signal, limitMs }: ShareOptions,
    ) {
      const start = (): SingleFlight<T> =>
        singleFlight<T>(async (aborted, respond) => respond(await work(aborted)), { limitMs })
      return (await held.join(name, start, signal)) as T
    },
  }
}
