import { NotYet } from '../../core/ports/jobs.ts'
import { Problem } from '../../core/problem.ts'

/** How long a job may wait for room or for what is away. */
export const DEFERRED_FOR_MS = 24 * 3_600_000

/**
 * What a job throws in the place of `error`: overload, outages and used up CPU time pass, and what is missing here may be
 * installed: they count as no attempt while it may wait.
 */
export function toDeferral(error: unknown, mayWait: boolean): unknown {
  if (!mayWait || !(error instanceof Problem) || !passes(error)) return error
  return new NotYet(1000 * Number(error.members.retryAfterSeconds ?? 5))
}

function passes({ status, code }: Problem): boolean {
  return status === 501 || status === 503 || code === 'rate_limited'
}
