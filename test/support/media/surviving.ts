import { expect } from 'chai'
import { type Caller, uploadOne } from '../requests/client.ts'
import { exchange, jsonOf } from '../requests/exchange.ts'
import { mutated } from './mutated.ts'

/**
 * Uploads changed copies of these files, and requests a transformation of each. Each is rendered or a 422, both occur, and the
 * service still renders the first file afterwards.
 */
export async function expectSurvival(
  service: Caller,
  files: readonly [Buffer, ...Buffer[]],
  { name, query, ...how }: { name: string; query: string; count: number; spared: number },
): Promise<void> {
  const outcomes: Record<string, number> = {}
  for (const bytes of mutated(files, how)) {
    const outcome = await outcomeOf(bytes)
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
  }
  const statuses = new Set(Object.keys(outcomes).map((each) => each.split(' ', 1)[0]))
  expect([...statuses], JSON.stringify(outcomes)).to.have.members(['200', '422'])
  expect(await outcomeOf(files[0])).to.equal('200')

  /** The status, with the code of a problem. */
  async function outcomeOf(bytes: Buffer): Promise<string> {
    const { src } = await uploadOne(service, { name, bytes })
    const answer = await exchange(service, `${src}?${query}`)
    return answer.status === 200 ? '200' : `${answer.status} ${jsonOf(answer).code}`
  }
}
