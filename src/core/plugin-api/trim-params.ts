import { badParameter } from '../problem.ts'
import type { ParameterSpecs } from './parameter.ts'

// One day.
const MAX_SECONDS = 86_400

/** The parameters of a plugin that trims video or audio: start and end. */
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

/**
 * Returns the requested part; undefined when that is the whole file. @throws Problem 400 for an end before the start
 */
export function resolveTrim<P extends Trim>(requested: P): P | undefined {
  const { start, end } = requested
  if (end !== undefined && end <= start)
    throw badParameter({ param: 'end', expected: `a time after start (${start} s)`, received: end })
  return start === 0 && end === undefined ? undefined : requested
}

/**
 * Sets the start and end of a draft.
 *
 * @param source its kind in a word, and its duration; undefined when unknown
 * @throws Problem 400 for a start at or after the end of the source
 */
export function trim<D extends { startSeconds?: number; endSeconds?: number }>(
  draft: D,
  { start, end }: Trim,
  { name, durationSeconds }: { name: 'video' | 'audio file'; durationSeconds: number | undefined },
): D {
  if (durationSeconds !== undefined && start >= durationSeconds) {
    const long = Math.round(durationSeconds * 1000) / 1000
    const expected = `a number below ${long} (this ${name} is ${long} s long)`
    throw badParameter({ param: 'start', expected, received: start })
  }
  if (start > 0) draft.startSeconds = start
  if (end !== undefined) draft.endSeconds = end
  return draft
}
