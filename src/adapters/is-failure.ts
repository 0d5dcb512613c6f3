import { Problem } from '../core/problem.ts'

/** Whether an error is a failure of this service. A missing file, or a client that has disconnected, is not. */
export function isFailure(error: unknown): boolean {
  if (error instanceof Problem) return error.status >= 500
  return !(error instanceof Error && error.name === 'AbortError')
}
