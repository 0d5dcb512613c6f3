import type { RequestHandler } from 'express'
import { Problem } from '../../core/problem.ts'
import { truncate } from '../../core/text/truncate.ts'

/**
 * Refuses a body in another transfer coding than chunks: it would be taken as it comes, compressed.
 *
 * @throws Problem 501
 * @see RFC 9112 section 6.1
 */
export const requireChunked: RequestHandler = ({ headers }, _res, next) => {
  const coding = headers['transfer-encoding']
  // What does not end in chunks is a 400 from Node: nobody knows where it would end.
  if (coding === undefined || !/,\s*chunked\s*$/i.test(coding)) return next()
  throw new Problem({
    status: 501,
    code: 'unknown_transfer_coding',
    detail: `expected chunked, or nothing, in the Transfer-Encoding header but received ${JSON.stringify(truncate(coding))}`,
    members: { expected: 'chunked', received: truncate(coding) },
  })
}
