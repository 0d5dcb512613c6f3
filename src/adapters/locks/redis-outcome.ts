import { Problem } from '../../core/problem.ts'

/** The outcome of shared work. */
export type Outcome<T> = { value: T } | { error: unknown }

/**
 * Serializes an outcome for another process: the public part of a Problem, and only the message of any other error. That
 * message is only logged.
 */
export function outcomeText(outcome: Outcome<unknown>): string {
  if ('value' in outcome) return JSON.stringify(outcome)
  const { error } = outcome
  if (!(error instanceof Problem))
    return JSON.stringify({ failure: error instanceof Error ? error.message : String(error) })
  return JSON.stringify({ problem: error })
}

/** Parses the text of {@link outcomeText}. */
export function outcomeOf(text: string): Outcome<unknown> {
  const parsed = JSON.parse(text)
  if (parsed.problem) return { error: Problem.fromJSON(parsed.problem) }
  if ('failure' in parsed) return { error: new Error(parsed.failure) }
  return { value: parsed.value }
}
