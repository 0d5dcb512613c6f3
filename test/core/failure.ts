/** What a promise rejects with; it has to. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    return error
  }
  throw new Error(`expected a failure but it answered ${JSON.stringify(value)}`)
}
