import type { Locks, ShareOptions } from '../ports/locks.ts'

/**
 * Runs `work` under an exclusive lock of this name, across all processes that share the locks. A caller that finds
 * the lock taken waits for it, then runs its own `work`. The result stays in this process, because it may be a
 * secret.
 *
 * @throws what `work` throws, or the error of the lock when it could not be acquired or was lost
 */
export async function withExclusiveLock<T>(
  locks: Locks,
  name: string,
  work: (signal: AbortSignal) => Promise<T>,
  options: ShareOptions,
): Promise<T> {
  for (;;) {
    const outcomes: PromiseSettledResult<T>[] = []
    const hold = async (signal: AbortSignal) => {
      outcomes.push(...(await Promise.allSettled([work(signal)])))
      return null
    }
    await locks.share(name, hold, options)
    // Without an outcome of our own, the call waited for the turn of another caller.
    const [own] = outcomes
    if (own?.status === 'fulfilled') return own.value
    if (own) throw own.reason
  }
}
