import { setTimeout as pause } from 'node:timers/promises'

/**
 * The next look at what has this name, at most one interval from now. All callers until then share its outcome.
 *
 * @param look called once for all of them
 * @throws what `look` throws
 */
export type NextLook<T> = (name: string, look: () => Promise<T>) => Promise<T>

/** One look per name and interval, however many wait for it. `everyMs`: from one look to the next. */
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
