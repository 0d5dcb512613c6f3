import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import { Problem } from '../../core/problem.ts'
import { truncate } from '../../core/text/truncate.ts'

/**
 * Refuses a request without a `Host` header, or with several: a proxy and this server could use different ones.
 *
 * @throws Problem 400
 * @see RFC 9112 section 3.2
 */
export const requireSingleHost: RequestHandler = (req, _res, next) => {
  if (hasSingleHost(req)) return next()
  const hosts = hostsOf(req)
  const detail = `expected one Host header but received ${hosts === 0 ? 'none' : hosts}`
  throw new Problem({ status: 400, code: 'bad_request', detail })
}

/** Whether a request has one `Host` header; none is valid before HTTP/1.1. */
export function hasSingleHost(req: Pick<IncomingMessage, 'httpVersion' | 'rawHeaders'>): boolean {
  const hosts = hostsOf(req)
  return hosts === 1 || (hosts === 0 && req.httpVersion !== '1.1')
}

function hostsOf({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): number {
  let hosts = 0
  // Names and values alternate.
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts += 1
  return hosts
}

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

/**
 * Refuses to deliver the script of a service worker. An uploaded file would otherwise become a worker of this origin, which sees all
 * requests of its pages: of the console, too. The service has no worker of its own.
 *
 * @throws Problem 403
 * @see https://w3c.github.io/ServiceWorker/#service-worker-script-request
 */
export const refuseWorkerScripts: RequestHandler = ({ headers }, _res, next) => {
  if (headers['service-worker'] === undefined) return next()
  throw new Problem({
    status: 403,
    code: 'worker_script',
    detail:
      'Files of this origin cannot be service workers. Serve the script of a worker from another origin.',
  })
}

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
