import { setTimeout as pause } from 'node:timers/promises'

/** Waits until `check` no longer throws; after `withinMs`, throws what it threw last. */
export async function eventually(check: () => unknown, { withinMs = 5000 } = {}): Promise<void> {
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
