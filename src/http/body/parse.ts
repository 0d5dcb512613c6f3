import { z } from 'zod'
import { badParameter, type Problem } from '../../core/problem.ts'

/**
 * Validates a JSON body against a schema. The messages of the schema name the expected value: `a string`.
 *
 * @param options.secret names of members whose values no response may repeat, nor bodies that contain them
 * @throws Problem 400 that names the first invalid member
 */
export function checkedBody<T>(
  schema: z.ZodType<T>,
  body: unknown,
  { secret = [] }: { secret?: readonly string[] } = {},
): T {
  const read = schema.safeParse(body)
  if (!read.success) throw bodyRefusal(read.error, body, secret)
  return read.data
}

function bodyRefusal({ issues }: z.ZodError, body: unknown, secret: readonly string[]): Problem {
  const [issue] = issues
  const path = issue?.path ?? []
  const received = path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)?.[key], body)
  const param = path.length > 0 ? z.core.toDotPath(path) : 'the body'
  const expected = issue?.message ?? 'another value'
  if (issue?.code === 'unrecognized_keys')
    return badParameter({ param, expected, received: issue.keys.join(', ') })
  const isSecret = secret.length > 0 && (path.length === 0 || secret.includes(String(path.at(-1))))
  if (isSecret && received !== undefined) return badParameter({ param, expected, received: 'another value' })
  if (Array.isArray(received)) return badParameter({ param, expected, received: `${received.length} items` })
  return badParameter({ param, expected, received })
}
