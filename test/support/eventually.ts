import { setTimeout as pause } from 'node:timers/promises'

/** How many times slower than a usual machine this one is, at least 1: scripts/lanes.js measures it. */
export const SLOWNESS = Number(process.env.SLUICE_TEST_SLOWNESS ?? 1)

const USUAL_MS = 45_000

/** For what takes a slow machine minutes: a transcode, Chromium, a first build. Less than the 120 s that such tests have. */
export const LONG_MS = 110_000

/**
 * Waits until `check` no longer throws, and throws its last error after `withinMs`, or later on a slow machine. Both times leave room for a slow or busy
 * machine: they end a test that fails, and are no limits that a test checks.
 */
export async function eventually(
  check: () => unknown,
  { withinMs }: { withinMs?: typeof LONG_MS } = {},
): Promise<void> {
  const until = Date.now() + SLOWNESS * (withinMs ?? USUAL_MS)
  const since = Date.now()
  for (;;) {
    try {
      await check()
      return
    } catch (error) {
      if (Date.now() > until) throw error
    }
    // A check may list a bucket: what takes long is checked less often.
    await pause(Math.min(Math.max((Date.now() - since) / 10, 10), 100))
  }
}
