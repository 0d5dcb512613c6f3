import { Problem } from '../../core/problem.ts'

/** How shared work has ended. */
export type Outcome<T> = { value: T } | { error: unknown }

/**
 * An outcome as it travels to another process: of a Problem what is public, of any other failure its message, which
 * only a log will show.
 */
export function outcomeText(outcome: Outcome<unknown>): string {
  if ('value' in outcome) return JSON.stringify(outcome)
  const { error } = outcome
  if (!(error instanceof Problem))
    return JSON.stringify({ failure: error instanceof Error ? error.message : String(error) })
  const { status, code, message: detail, members, headers } = error
  return JSON.stringify({ problem: { status, code, detail, members, headers } })
}

/** The outcome that {@link outcomeText} has written down. */
export function outcomeOf(text: string): Outcome<unknown> {
  const parsed = JSON.parse(text)
  if (parsed.problem) return { error: new Problem(parsed.problem) }
  if ('failure' in parsed) return { error: new Error(parsed.failure) }
  return { value: parsed.value }
}
