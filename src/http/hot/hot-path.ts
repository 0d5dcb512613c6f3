import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Request, RequestHandler, Response } from 'express'
import { type ByteRange, lengthOf } from '../../core/bytes/asset.ts'
import { parseRange } from '../../core/bytes/byte-range.ts'
import type { Metrics } from '../../core/ports/metrics.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { Deliveries } from '../../service/delivery/deliveries.ts'
import { hasSingleHost } from '../connection/host-header.ts'
import { isIdle, serializePipelined } from '../connection/pipelining.ts'
import { evaluateConditions } from '../delivery/conditional.ts'
import { contentRange } from '../delivery/multipart-byteranges.ts'
import { type FullContentRange, hasFullContentRange, MAX_AGE_SECONDS } from '../delivery/send.ts'
import type { RequestEnds } from '../log/request-log.ts'
import type { Readers } from '../readers/readers.ts'
import { stateOf } from '../request-state.ts'
import type { HotCache, HotResponse } from './cache.ts'

/** The dependencies of {@link hotPath}. */
export interface HotPathOptions {
  cache: HotCache
  clients: Pick<Clients, 'isCurrent'>
  deliveries: Pick<Deliveries, 'noteRepeated'>
  ends: RequestEnds
  metrics: Pick<Metrics, 'answeredHot'>
  readers: Pick<Readers, 'begin'>
  fullContentRange: FullContentRange
  /** The warning about a proxy that TRUST_PROXY does not name. */
  unnamedProxy: RequestHandler
}

/** How a request is answered from the cache. */
interface Answer {
  status: 200 | 206 | 304
  found: HotResponse
  /** For 206. */
  range?: ByteRange
}

/**
 * Answers plain requests for hot files at once, before Express. Every other request passes unchanged: with a body, with several
 * ranges, with an expectation, while another request of the connection is in progress, and whatever would be an error. What the
 * response contains, and what is counted and logged, is the same on both paths.
 */
export function hotPath(options: HotPathOptions, next: RequestListener): RequestListener {
  const { cache, unnamedProxy } = options
  return (req, res) => {
    if (!isPlain(req, res)) return next(req, res)
    const name = { target: req.url ?? '', accept: req.headers.accept ?? '' }
    const found = cache.find(name)
    const answer = found && answerOf(req, found, options)
    if (answer === undefined) {
      stateOf(req).hot = { ...name, state: cache.state() }
      return next(req, res)
    }
    // Both are written for Express, and use nothing of it here.
    const [request, response] = [req as Request, res as Response]
    unnamedProxy(request, response, () => {})
    serializePipelined(request, response, () => send(request, response, answer, options))
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
  if (!clients.isCurrent(found.client)) return undefined
  if (found.until !== undefined && Date.now() >= found.until) return undefined
  const verdict = evaluateConditions(req, found)
  if (verdict === 'failed') return undefined
  if (verdict === 'not-modified') return { status: 304, found }
  const { range } = req.headers
  if (range === undefined || verdict === 'whole' || req.method === 'HEAD') return { status: 200, found }
  const ranges = parseRange(range, found.body.length)
  if (ranges === undefined) return { status: 200, found }
  if (ranges === 'unsatisfiable' || ranges.length > 1) return undefined
  const [only] = ranges
  return only && { status: 206, found, range: only }
}

function send(req: Request, res: Response, answer: Answer, options: HotPathOptions): void {
  const { deliveries, ends, metrics, readers } = options
  const { status, found, range } = answer
  const startedAt = performance.now()
  const requestId = randomUUID()
  const { socket, method } = req
  const { client, path, route } = found
  // As Express does, for everything that reads it later.
  req.route = { path: route }
  res.once('close', () => {
    const request = { requestId, method, path, route, clientId: client.id, code: undefined, startedAt }
    ends.end(request, { res, socket })
  })
  deliveries.noteRepeated(found.source)
  metrics.answeredHot()
  res.writeHead(status, headersOf(req, requestId, answer, options))
  if (status === 304 || method === 'HEAD') {
    res.end()
    return
  }
  res.end(range ? found.body.subarray(range.start, range.end + 1) : found.body)
  if (res.writableFinished) return
  // A client that reads slowly holds its connection. The bytes are shared with the cache, so they are not counted.
  const reader = readers.begin(res)
  reader.waits(0)
  res.once('close', reader.end)
}

/** Names and values alternate, as `writeHead` takes them. */
function headersOf(
  req: Request,
  requestId: string,
  { status, found, range }: Answer,
  { fullContentRange }: Pick<HotPathOptions, 'fullContentRange'>,
): string[] {
  const { headers, validators, body, until } = found
  const all = ['X-Request-Id', requestId, ...(status === 304 ? validators : headers)]
  if (until !== undefined) replace(all, 'Cache-Control', privateUntil(until))
  if (range) {
    replace(all, 'Content-Length', String(lengthOf(range)))
    all.push('Content-Range', contentRange(range, { size: body.length }))
  } else if (status === 200 && hasFullContentRange(req, fullContentRange))
    all.push('Content-Range', `bytes 0 - ${body.length}`)
  return all
}

function replace(all: string[], name: string, value: string): void {
  all[all.indexOf(name) + 1] = value
}

/** As `cacheControl` of a signed URL that expires. */
function privateUntil(until: number): string {
  const left = Math.max(0, Math.floor((until - Date.now()) / 1000))
  return `private, max-age=${Math.min(MAX_AGE_SECONDS, left)}`
}
