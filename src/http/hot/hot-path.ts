import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Request, RequestHandler, Response } from 'express'
import { parseRange } from '../../core/bytes/byte-range.ts'
import type { Metrics } from '../../core/ports/metrics.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { Deliveries } from '../../service/delivery/deliveries.ts'
import { hasSignedCookie } from '../caller/signed-cookie.ts'
import { isIdle, serializePipelined } from '../connection/pipelining.ts'
import { hasSingleHost } from '../connection/refused-headers.ts'
import { evaluateConditions } from '../delivery/conditional.ts'
import { type FullContentRange, payloadOf } from '../delivery/send.ts'
import type { FrontServer } from '../elsewhere/front-server.ts'
import type { Identify } from '../log/request-ids.ts'
import type { RequestEnds } from '../log/request-log.ts'
import type { ConcurrentResponses } from '../readers/concurrent-responses.ts'
import type { Readers } from '../readers/readers.ts'
import { sendPieces, sendWhole } from '../readers/send-pieces.ts'
import { clientGone } from '../request.ts'
import { stateOf } from '../request-state.ts'
import type { HotCache, HotResponse } from './cache.ts'
import { type Answer, headersOf, locationFor } from './hot-headers.ts'
import { createHotTarget } from './hot-target.ts'

/** The dependencies of {@link hotPath}. */
export interface HotPathOptions {
  cache: HotCache
  clients: Pick<Clients, 'isCurrent'>
  deliveries: Pick<Deliveries, 'noteRepeated'>
  ends: RequestEnds
  identify: Identify
  metrics: Pick<Metrics, 'answeredHot'>
  readers: Readers
  /** Sends large files instead of this service. */
  front?: FrontServer | undefined
  fullContentRange: FullContentRange
  /** The warning about a proxy that TRUST_PROXY does not name. */
  warnOfProxy: RequestHandler
  /** `inPortions`, for requests that read a file. */
  portions: RequestHandler
  concurrent: ConcurrentResponses
  /** Names of query parameters that are ignored, in addition to the built-in ones. */
  ignoredParams: readonly string[]
  /** Gives a request the properties of Express, such as `ip`. */
  asExpress(req: IncomingMessage): Request
}

/**
 * Answers plain requests for hot files at once, before Express. Every other request passes unchanged: with a body, with several
 * ranges, with an expectation, while another request of the connection is in progress, and whatever would be an error. What the
 * response contains, and what is counted and logged, is the same on both paths.
 */
export function hotPath(options: HotPathOptions, next: RequestListener): RequestListener {
  const { cache, warnOfProxy, portions, concurrent, asExpress } = options
  if (!cache.isEnabled) return next
  const hotTarget = createHotTarget(options.ignoredParams)
  return (req, res) => {
    if (!isPlain(req, res)) return next(req, res)
    const name = { target: hotTarget(req.url ?? ''), headers: req.headers }
    const found = cache.find(name)
    const answer = found && answerOf(req, found, options)
    if (answer === undefined) {
      stateOf(req).hot = { ...name, state: cache.state() }
      return next(req, res)
    }
    const { body } = answer.found
    const isRead = !body && answer.status !== 304 && req.method === 'GET'
    // A response from memory is complete at once, so it is counted only when others may have reached the limit.
    const isLimited = isRead || concurrent.mayRefuse()
    // The middlewares that run here use nothing else of Express.
    const [request, response] = [isLimited ? asExpress(req) : (req as Request), res as Response]
    const longPath = () => next(req, res)
    warnOfProxy(request, response, () => {})
    serializePipelined(request, response, () => {
      const share = () => sendShared(request, response, answer, options)
      if (!isLimited) return share()
      const read = () =>
        void sendStored(request, response, answer, options).catch(() => {
          // The client has gone.
          if (res.destroyed) return
          // The bytes are missing, or have changed: the long path finds out.
          cache.remove(name)
          if (res.headersSent) res.destroy()
          else longPath()
        })
      const limits = isRead ? [portions, concurrent.limit] : [concurrent.limit]
      runAll(limits, { request, response, done: isRead ? read : share, fail: longPath })
    })
  }
}

/** Whether the request is one that all middlewares before the delivery would pass on unchanged. */
function isPlain(req: IncomingMessage, res: ServerResponse): boolean {
  const { method, url = '', headers } = req
  return (
    (method === 'GET' || method === 'HEAD') &&
    url.startsWith('/v1/') &&
    !url.includes('#') &&
    headers.authorization === undefined &&
    headers.expect === undefined &&
    headers['want-repr-digest'] === undefined &&
    headers['service-worker'] === undefined &&
    // A page of a listed origin may read its response with cookies.
    (headers.origin === undefined || !hasSignedCookie(req)) &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    // Absent while an earlier response of the connection is being sent.
    res.socket !== null &&
    isIdle(res.socket) &&
    hasSingleHost(req)
  )
}

/** Undefined when the long path has to answer. */
function answerOf(
  req: IncomingMessage,
  found: HotResponse,
  { clients }: Pick<HotPathOptions, 'clients'>,
): Answer | undefined {
  const startedAt = performance.now()
  if (!clients.isCurrent(found.client)) return undefined
  if (found.expiry && Date.now() >= found.expiry.until) return undefined
  const verdict = evaluateConditions(req, found)
  if (verdict === 'failed') return undefined
  if (verdict === 'not-modified') return { status: 304, found, startedAt }
  const { range } = req.headers
  const whole = { status: 200, found, startedAt } as const
  if (range === undefined || verdict === 'whole' || req.method === 'HEAD') return whole
  const ranges = parseRange(range, found.source.asset.size)
  if (ranges === undefined) return whole
  if (ranges === 'unsatisfiable' || ranges.length > 1) return undefined
  const [only] = ranges
  return only && { status: 206, found, range: only, startedAt }
}

/** Runs middlewares. When one of them refuses the request, the long path refuses it in the same way. */
function runAll(
  [first, ...others]: readonly RequestHandler[],
  run: { request: Request; response: Response; done: () => void; fail: () => void },
): void {
  if (!first) {
    run.done()
    return
  }
  let isPassed = false
  const pass = () => {
    isPassed = true
    runAll(others, run)
  }
  try {
    first(run.request, run.response, pass)
  } catch (error) {
    if (isPassed) throw error
    run.fail()
  }
}

/** Counts and logs the request, and sets status and headers. */
function begin(req: Request, res: Response, answer: Answer, options: HotPathOptions): void {
  const { deliveries, ends, identify, metrics } = options
  const { status, found, startedAt } = answer
  const { context, span } = identify(req, startedAt)
  const { socket, method } = req
  const { client, path, route } = found
  // As Express does, for everything that reads it later.
  req.route = { path: route }
  res.once('close', () => {
    const request = { context, span, method, path, route, clientId: client.id, code: undefined, startedAt }
    ends.end(request, { res, socket })
  })
  deliveries.noteRepeated(found.source)
  metrics.answeredHot()
  res.writeHead(status, headersOf(req, context.requestId, answer, options))
}

/** Sends the bytes in memory, or only the headers of a 304 and of a response to HEAD. */
function sendShared(req: Request, res: Response, answer: Answer, options: HotPathOptions): void {
  const { status, found, range } = answer
  const { body } = found
  begin(req, res, answer, options)
  if (!body || status === 304 || req.method === 'HEAD') {
    res.end()
    return
  }
  res.end(range ? body.subarray(range.start, range.end + 1) : body)
  if (res.writableFinished) return
  // A client that reads slowly holds its connection. The bytes are shared with the cache, so they are not counted.
  if (!options.concurrent.mayRefuse()) options.concurrent.limit(options.asExpress(req), res, () => {})
  const reader = options.readers.begin(res)
  reader.waits(0)
  res.once('close', reader.end)
}

/** Reads the file from the bucket, and sends it. @throws errors of the bucket */
async function sendStored(
  req: Request,
  res: Response,
  answer: Answer,
  options: HotPathOptions,
): Promise<void> {
  const { readers } = options
  const location = locationFor(req, answer, options.front)
  if (location) {
    begin(req, res, { ...answer, status: 200, location }, options)
    res.end()
    return
  }
  const signal = clientGone(res)
  const payload = payloadOf(answer.found.source.asset, answer.range && [answer.range])
  if (payload.read && readers.hasRoom(payload.size)) {
    const body = await payload.read(signal)
    begin(req, res, answer, options)
    return sendWhole(res, body, readers)
  }
  const open: typeof payload.open = async (how) => {
    const pieces = await payload.open(how)
    begin(req, res, answer, options)
    return pieces
  }
  await sendPieces(res, open, { readers, signal })
}
