import { inspect } from 'node:util'

/** What `outcome` is rejected with. @throws when it is not */
export async function rejection(outcome: Promise<unknown>): Promise<unknown> {
  const error = await outcome.then(
    (value) => ({ value }),
    (reason: unknown) => ({ reason }),
  )
  if ('reason' in error) return error.reason
  throw new Error(
    `expected a rejection but it resolved with ${inspect(error.value, { depth: 4, breakLength: 120 })}`,
  )
}
