import { setTimeout as pause } from 'node:timers/promises'

/**
 * The next read of the job with this name, at most one interval from now. All callers until then share its result.
 *
 * @param look called once for all of them
 * @throws what `look` throws
 */
export type NextLook<T> = (name: string, look: () => Promise<T>) => Promise<T>

/** Reads a job once per interval, however many callers wait for it. `everyMs`: the interval. */
export function createSharedLooks<T>({ everyMs }: { everyMs: number }): NextLook<T> {
  const coming = new Map<string, Promise<T>>()

  return (name, look) => {
    const known = coming.get(name)
    if (known !== undefined) return known
    const next = pause(everyMs)
      .then(look)
      .finally(() => coming.delete(name))
    coming.set(name, next)
    return next
  }
}
