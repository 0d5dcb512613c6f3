import { setTimeout } from 'node:timers/promises'
import { Problem } from '../../core/problem.ts'
import { UnreadableSource } from './checked-bytes.ts'

// Ten minutes in all: a run of many hours survives the restart of a store.
const PAUSES_MS = [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000]

export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<unknown>

const sleep: Pause = (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal })

/** Whether a bucket was unavailable, and not only one file. */
export function isOutage(error: unknown): boolean {
  const cause = error instanceof UnreadableSource ? error.cause : error
  return cause instanceof Problem && cause.status === 503
}

/**
 * Does a step, and repeats it while a bucket is unavailable. The step must be one that can begin again.
 *
 * @throws the error of the last attempt; `signal.reason`
 */
export async function persistently<T>(
  step: () => Promise<T>,
  { signal, pause = sleep }: { signal: AbortSignal; pause?: Pause | undefined },
): Promise<T> {
  for (const milliseconds of PAUSES_MS) {
    try {
      return await step()
    } catch (error) {
      signal.throwIfAborted()
      if (!isOutage(error)) throw error
    }
    await pause(milliseconds, signal)
  }
  return step()
}
