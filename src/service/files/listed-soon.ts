import { setTimeout as pause } from 'node:timers/promises'
import { type Problem, unavailable } from '../../core/problem.ts'

// A new index is complete at once. A large one gets 503 within the 5 s that a response may take.
const COMPLETE_MS = 3000
const POLL_INTERVAL_MS = 100

/** Waits until lists or counters are complete. @throws Problem 503 when they take more than a few seconds */
export async function listedSoon(isComplete: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  for (const until = performance.now() + COMPLETE_MS; !(await isComplete()); ) {
    if (performance.now() > until) throw notListedYet()
    await pause(POLL_INTERVAL_MS)
    signal.throwIfAborted()
  }
}

/** 503: the index does not have all files yet. */
export function notListedYet(): Problem {
  return unavailable('The list of files is being built. Retry in a minute.')
}
