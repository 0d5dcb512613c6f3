import { z } from 'zod'

/** An integer with inclusive bounds. `expected` is the text for error messages. */
export function boundedInteger({
  min,
  max,
  expected = `an integer from ${min} to ${max}`,
}: {
  min: number
  max: number
  expected?: string
}) {
  return z.int(expected).min(min, expected).max(max, expected)
}

// Zod checks every element, and creates an issue for each, before
// it checks the length: a megabyte of invalid ones takes seconds.

/**
 * An array whose length is checked before its elements. `min` and
 * `max` are inclusive; `expected` is the text for error messages.
 */
export function boundedArray<T extends z.ZodType>(
  element: T,
  { min = 0, max, expected }: { min?: number; max: number; expected: string },
) {
  const fits = (value: unknown) => Array.isArray(value) && value.length >= min && value.length <= max
  return z.custom<unknown[]>(fits, expected).pipe(z.array(element)).meta({ minItems: min, maxItems: max })
}

/** An object whose members are counted, `max` inclusive, before they are checked. */
export function boundedRecord<T extends z.ZodType>(
  value: T,
  { max, expected, expectedAtMost }: { max: number; expected: string; expectedAtMost: string },
) {
  const fits = (record: unknown) => isObject(record) && Object.keys(record).length <= max
  const error = ({ input }: { input?: unknown }) => (isObject(input) ? expectedAtMost : expected)
  return z
    .custom<Record<string, unknown>>(fits, { error })
    .pipe(z.record(z.string(), value))
    .meta({ maxProperties: max })
}

// A first limit for lengths, so that validation is fast. Services check the exact limits, which messages name.
const MANY = 1000

/** An array of at most 1000 items. */
export function boundedItems<T extends z.ZodType>(element: T) {
  return boundedArray(element, { max: MANY, expected: `at most ${MANY} items` })
}

/** An object of at most 1000 members. */
export function boundedMembers<T extends z.ZodType>(value: T) {
  return boundedRecord(value, { max: MANY, expected: 'an object', expectedAtMost: `at most ${MANY} members` })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
