import type { z } from 'zod'
import { bodyRefusal } from './body-refusal.ts'

/**
 * A JSON body as the schema has it, whose messages are what was expected: `a string`.
 *
 * @param secret members whose values no answer repeats
 * @throws Problem 400 that names the first member that does not fit
 */
export function checkedBody<T>(
  schema: z.ZodType<T>,
  body: unknown,
  options: { secret?: readonly string[] } = {},
): T {
  const read = schema.safeParse(body)
  if (!read.success) throw bodyRefusal(read.error, body, options)
  return read.data
}
