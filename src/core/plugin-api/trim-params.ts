import { badParameter } from '../problem.ts'
import type { ParameterSpecs } from './parameter.ts'

// A day.
const MAX_SECONDS = 86_400

/** From when on and up to when: the parameters of a plugin that trims videos or sounds. */
export const TRIM_PARAMS = {
  start: {
    type: 'number',
    min: 0,
    max: MAX_SECONDS,
    unit: 'seconds',
    default: 0,
    help: 'Start time.',
  },
  end: {
    type: 'number',
    min: 0.1,
    max: MAX_SECONDS,
    unit: 'seconds',
    help: 'End time, from the start of the file. A time after the end means the end.',
  },
} as const satisfies ParameterSpecs

interface Trim {
  start: number
  end: number | undefined
}

/** What is asked for; undefined where that is all of it. @throws Problem 400 for an end before the start */
export function resolveTrim<P extends Trim>(asked: P): P | undefined {
  const { start, end } = asked
  if (end !== undefined && end <= start)
    throw badParameter({ param: 'end', expected: `a moment past start, ${start} s,`, received: end })
  return start === 0 && end === undefined ? undefined : asked
}

/**
 * Has a draft begin and end where that is asked for.
 *
 * @param source what it is of, in a word, and how long that is; undefined where nobody knows
 * @throws Problem 400 for a start past its end
 */
export function trim<D extends { startSeconds?: number; endSeconds?: number }>(
  draft: D,
  { start, end }: Trim,
  { name, durationSeconds }: { name: 'video' | 'sound'; durationSeconds: number | undefined },
): D {
  if (durationSeconds !== undefined && start >= durationSeconds) {
    const long = Math.round(durationSeconds * 1000) / 1000
    const expected = `a number below ${long}, as this ${name} is ${long} s long,`
    throw badParameter({ param: 'start', expected, received: start })
  }
  if (start > 0) draft.startSeconds = start
  if (end !== undefined) draft.endSeconds = end
  return draft
}
