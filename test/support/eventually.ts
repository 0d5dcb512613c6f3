import { setTimeout as pause } from 'node:timers/promises'

/**
 * Waits until `check` no longer throws; after `withinMs`, throws what it threw last. A machine that is slow, or busy, has
 * its time: what must not take longer says so itself.
 */
export async function eventually(check: () => unknown, { withinMs = 15_000 } = {}): Promise<void> {
  const until = Date.now() + withinMs
  for (;;) {
    try {
      await check()
      return
    } catch (error) {
      if (Date.now() > until) throw error
    }
    await pause(10)
  }
}
