import type { RequestHandler } from 'express'
import { Problem } from '../../core/problem.ts'
import { truncate } from '../../core/text/truncate.ts'

/**
 * Refuses transfer codings other than `chunked`: a compressed body would be stored as it was received.
 *
 * @throws Problem 501
 * @see RFC 9112 section 6.1
 */
export const requireChunked: RequestHandler = ({ headers }, _res, next) => {
  const coding = headers['transfer-encoding']
  // If the last coding is not `chunked`, the end of the body is unknown: Node responds with a 400.
  if (coding === undefined || !/,\s*chunked\s*$/i.test(coding)) return next()
  throw new Problem({
    status: 501,
    code: 'unknown_transfer_coding',
    detail: `expected chunked, or nothing, in the Transfer-Encoding header but received ${JSON.stringify(truncate(coding))}`,
    members: { expected: 'chunked', received: truncate(coding) },
  })
}
