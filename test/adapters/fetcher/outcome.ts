import { expect } from 'chai'
import type { Fetched } from '../../../src/core/ports/fetcher.ts'
import { Problem } from '../../../src/core/problem.ts'
import { rejection } from '../../support/rejection.ts'

/** Fails unless `outcome` is rejected with a Problem of this status and code, which it returns. */
export async function expectProblem(
  outcome: Promise<unknown>,
  status: number,
  code: string,
): Promise<Problem> {
  const problem = await rejection(outcome)
  expect(problem, String(problem)).to.be.instanceOf(Problem)
  expect(problem, String((problem as Problem).cause)).to.include({ status, code })
  return problem as Problem
}

export async function bytesOf({ body }: Pick<Fetched, 'body'>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
