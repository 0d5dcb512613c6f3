import { patiently } from '../../../core/async/patiently.ts'
import { isFileReplaced, Problem } from '../../../core/problem.ts'

/** Files of this size take minutes to hours to be read and copied, so a short outage must not end that. */
export const LARGE_BYTES = 8 * 1024 ** 3

/** For what is repeated for a large file: for a minute. Most outages of a store are shorter. */
export const PATIENT = { tries: 7, retryMs: 1000 }

/** Runs a step of storing a file, and runs it again where that helps. */
export type Patience = <T>(step: () => Promise<T>) => Promise<T>

/** For a direct upload of this size: the steps of a large one are tried for a minute. @param options.signal ends the tries */
export function patienceFor(
  size: number,
  { signal, retryMs = PATIENT.retryMs }: { signal: AbortSignal; retryMs?: number },
): Patience {
  return (step) => (size < LARGE_BYTES ? step() : patiently(step, { ...PATIENT, retryMs, signal, isFinal }))
}

/** Whether a repetition after this error would be in vain. */
export function isFinal(error: unknown): boolean {
  return isFileReplaced(error) || (error instanceof Problem && error.status < 500)
}
