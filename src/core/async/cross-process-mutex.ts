import type { Locks, ShareOptions } from '../ports/locks.ts'

/**
 * Runs `work` while nobody else runs any under this name, across all processes that share the locks: who finds it taken
 * waits, and then works as well. What comes of it stays in this process: it may be a secret.
 *
 * @throws what `work` throws, or why the lock could not be had, or kept
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
    // Without one it was another's turn that has ended.
    const [own] = outcomes
    if (own?.status === 'fulfilled') return own.value
    if (own) throw own.reason
  }
}
