import { z } from 'zod'
import { badParameter, type Problem } from '../core/problem.ts'

/** 400: the first thing in a JSON body that is not as expected, which the schema's messages say. */
export function bodyRefusal({ issues }: z.ZodError, body: unknown): Problem {
  const [issue] = issues
  const path = issue?.path ?? []
  const received = path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)?.[key], body)
  const param = path.length > 0 ? z.core.toDotPath(path) : 'the body'
  const expected = issue?.message ?? 'another value'
  if (issue?.code === 'unrecognized_keys')
    return badParameter({ param, expected, received: issue.keys.join(', ') })
  if (Array.isArray(received)) return badParameter({ param, expected, received: `${received.length} items` })
  return badParameter({ param, expected, received })
}
