import { setTimeout as pause } from 'node:timers/promises'

/**
 * Waits until `check` no longer throws; after `withinMs`, throws its last error. The default leaves time for a slow or busy
 * machine. A test with a real time limit passes its own `withinMs`.
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
