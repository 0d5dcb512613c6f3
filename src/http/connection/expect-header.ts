import type { RequestHandler } from 'express'
import { Problem } from '../../core/problem.ts'
import { truncate } from '../../core/text/truncate.ts'

/**
 * Refuses every expectation except `100-continue`, which Node handles.
 *
 * @throws Problem 417
 * @see RFC 9110 section 10.1.1
 */
export const rejectUnknownExpect: RequestHandler = ({ headers: { expect } }, _res, next) => {
  if (expect === undefined || /^100-continue$/i.test(expect)) return next()
  throw new Problem({
    status: 417,
    code: 'expectation_failed',
    detail: `expected 100-continue, or nothing, in the Expect header but received ${JSON.stringify(truncate(expect))}`,
    members: { expected: '100-continue', received: truncate(expect) },
  })
}
