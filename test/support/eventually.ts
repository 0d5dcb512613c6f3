import { setTimeout as pause } from 'node:timers/promises'

/**
 * Waits until `check` no longer throws; after `withinMs`, throws its last error. The default leaves time for a slow or busy
 * machine. A test with a real time limit passes its own `withinMs`.
 */
export async function eventually(check: () => unknown, { withinMs = 45_000 } = {}): Promise<void> {
  const since = Date.now()
  for (;;) {
    try {
      await check()
      return
    } catch (error) {
      if (Date.now() > since + withinMs) throw error
    }
    // A check may list a bucket: what takes long is checked less often.
    await pause(Math.min(Math.max((Date.now() - since) / 10, 10), 100))
  }
}
