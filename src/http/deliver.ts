import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { Client } from '../core/client.ts'
import { clipped } from '../core/clipped.ts'
import { cleanFileName, nameInFormat } from '../core/file-name.ts'
import { isMediaGroup, type MediaGroup } from '../core/media.ts'
import { parsePath } from '../core/object-key.ts'
import { type ParameterSpec, parseParameter } from '../core/parameter.ts'
import type { Limits } from '../core/ports/rate-limiter.ts'
import { Problem } from '../core/problem.ts'
import { DOWNLOAD_WORD, isPassedOver, WAIT_WORD } from '../core/query-word.ts'
import type { Clients } from '../service/clients.ts'
import type { Deliveries, Delivery } from '../service/deliver.ts'
import { callerByToken } from './caller.ts'
import { methodNotAllowed, notFound } from './problem.ts'
import { takePoints } from './rate-limit.ts'
import { clientGone, onlyValue, queryPairs, wildcardPath } from './request.ts'
import { type FullContentRange, MAX_AGE_SECONDS, sendAsset } from './send.ts'
import { cacheControl, signedLike } from './signed-url.ts'
import { deliveryUrl, derivativeUrl } from './urls.ts'

interface Dependencies {
  clients: Clients
  deliveries: Deliveries
  limits: Limits
  fullContentRange: FullContentRange
  /** Without a slash at its end. */
  baseUrl: string
  /** Names in a query that are passed over, beside those of every installation. */
  ignoredParams: readonly string[]
}

// What was asked for may be there by then: a limit was raised, a load is over.
export const INSTEAD_MAX_AGE_SECONDS = 60

/**
 * `GET /v1/<group>/upload/<client token>/<path>`: a file, transformed as the query says.
 * `GET /v1/bucket/<client token>/<key>`: an object as it lies in the bucket.
 */
export function deliverRoutes({
  clients,
  deliveries,
  limits,
  fullContentRange,
  baseUrl,
  ignoredParams,
}: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const upload = '/v1/:group/upload/:token/*path'
  const bucket = '/v1/bucket/:token/*path'

  for (const path of [bucket, upload]) routes.all(path, readableByAll)

  routes.get(bucket, async (req, res) => {
    const client = callerByToken(req, clients)
    const path = wildcardPath(req)
    const delivery = await deliveries.object({ client, path })
    const given = queryPairs(req).find(
      ([name]) => name !== DOWNLOAD_WORD && !isPassedOver(name, ignoredParams),
    )
    if (given) throw parameterOfObject(given, { path, baseUrl, token: client.token })
    await sendAsset(req, res, { ...sendable(delivery), fullContentRange, signal: clientGone(res) })
  })

  const send = storedFiles({ clients, deliveries, limits, fullContentRange, baseUrl })
  routes.get(upload, async (req, res, next) => {
    const group = String(req.params.group)
    if (!isMediaGroup(group)) return notFound(req, res, next)
    const client = callerByToken(req, clients)
    await send(req, res, { client, group, findPath: async () => wildcardPath(req) })
  })

  for (const path of [bucket, upload]) routes.all(path, methodNotAllowed('GET', 'HEAD', 'OPTIONS'))
  return routes
}

/** Sends a stored file, transformed as the query of the request says. `findPath`: what the URL's path stands for. */
export function storedFiles({
  clients,
  deliveries,
  limits,
  fullContentRange,
  baseUrl,
}: Omit<Dependencies, 'ignoredParams'>) {
  return async (req: Request, res: Response, { client, group, findPath }: StoredFile): Promise<void> => {
    const { download, wait, query } = deliveryQuery(req)
    const waitMs = 1000 * waitSeconds(wait)
    const signal = clientGone(res)
    const asked = deliveries.deliver({
      client,
      group,
      path: await findPath(signal),
      query,
      accept: req.headers.accept ?? '',
      waitMs,
      isOneFile: download !== undefined,
      beforeMaking: () => takePoints(req, res, { limits, limited: 'derivative', client }),
      signal,
    })
    const delivery = await asked.catch((error) => {
      throw withJob(error, (url) => signedLike(req, url, client, clients))
    })
    tellNotes(res, delivery)
    if (delivery.isElsewhere) {
      const url = derivativeUrl(delivery.key, { baseUrl, token: client.token, group })
      return redirect(req, res, { delivery, url: signedLike(req, url, client, clients) })
    }
    await sendAsset(req, res, {
      ...sendable(delivery),
      fullContentRange,
      signal,
      ...downloadAs(download, delivery),
    })
  }
}

interface StoredFile {
  client: Client
  group: MediaGroup
  findPath: (signal: AbortSignal) => Promise<string>
}

/** What is said to delivery itself, and what is to be done with the file. @throws Problem 400 */
export function deliveryQuery(req: Request) {
  const pairs = queryPairs(req)
  return {
    download: onlyValue(pairs, DOWNLOAD_WORD),
    wait: onlyValue(pairs, WAIT_WORD),
    query: pairs.filter(([name]) => name !== DOWNLOAD_WORD && name !== WAIT_WORD),
  }
}

/** Tells what was done otherwise than asked. */
export function tellNotes(
  res: Response,
  { insteadFor, notes }: Pick<Delivery, 'insteadFor' | 'notes'>,
): void {
  const all = [...(insteadFor ? [`original for ${insteadFor}`] : []), ...notes]
  if (all.length > 0) res.setHeader('X-Sluice-Transform', all.join(', '))
}

/** The name to save a file by, where it is asked for. */
export function downloadAs(
  download: string | undefined,
  delivery: Pick<Delivery, 'originalName' | 'newFormat'>,
): { downloadName?: string } {
  return download === undefined ? {} : { downloadName: cleanFileName(download) || deliveredName(delivery) }
}

/** What tells of a job, with an address of it that the caller may use. */
function withJob(error: unknown, signed: (url: string) => string): unknown {
  if (!(error instanceof Problem) || typeof error.members.job !== 'string') return error
  const { status, code, message: detail, headers, members } = error
  return new Problem({
    status,
    code,
    detail,
    headers,
    members: { ...members, job: signed(error.members.job) },
  })
}

/** To where the addresses in a playlist, which are relative, mean the files beside it. @see RFC 8216 section 4.1 */
function redirect(req: Request, res: Response, { delivery, url }: { delivery: Delivery; url: string }): void {
  if (delivery.variesByAccept) res.vary('Accept')
  res.setHeader('Cache-Control', delivery.isGrowing ? 'no-store' : cacheControl(req, MAX_AGE_SECONDS))
  res.redirect(302, url)
}

// Half of what usual proxies let a request wait.
const WAIT_SPEC: ParameterSpec = {
  ...{ type: 'integer', min: 1, max: 30, unit: 'seconds' },
  help: 'How long a request waits for a video that is being made',
}

function waitSeconds(received: string | undefined): number {
  return received === undefined ? 0 : Number(parseParameter(WAIT_WORD, WAIT_SPEC, received))
}

function deliveredName({ originalName, newFormat }: Pick<Delivery, 'originalName' | 'newFormat'>): string {
  return newFormat ? nameInFormat(originalName, newFormat) : originalName
}

/** 400: to whoever transforms here, the untouched file would look like a fault of the transformation. */
function parameterOfObject(
  [name, value]: readonly [name: string, value: string],
  { path, ...place }: { path: string; baseUrl: string; token: string },
): Problem {
  const param = clipped(name)
  const { full } = parsePath(path)
  return new Problem({
    status: 400,
    code: 'bad_parameter',
    detail:
      `expected no parameters at the direct address of an object but received ${JSON.stringify(param)}` +
      (full ? `; transform at ${deliveryUrl(full, place)}` : ''),
    members: { param, expected: 'no parameters', received: clipped(value) },
  })
}

function sendable({ key, asset, variesByAccept, insteadFor, isGrowing }: Delivery) {
  return {
    asset,
    etag: isGrowing ? undefined : key,
    variesByAccept,
    ...(insteadFor ? { maxAgeSeconds: INSTEAD_MAX_AGE_SECONDS } : {}),
  }
}

/** Pages of any site may show and read what is at this address. */
export const readableByAll: RequestHandler = (req, res, next) => {
  res.setHeader('Access-Control-Allow-Origin', '*')
  res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin')
  res.setHeader('X-Content-Type-Options', 'nosniff')
  res.setHeader(
    'Access-Control-Expose-Headers',
    'Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, Retry-After, X-Request-Id, X-Sluice-Transform',
  )
  if (req.method !== 'OPTIONS') return next()
  res.setHeader('Allow', 'GET, HEAD, OPTIONS')
  res.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, OPTIONS')
  res.setHeader(
    'Access-Control-Allow-Headers',
    'Range, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, If-Range',
  )
  res.setHeader('Access-Control-Max-Age', '86400')
  res.status(204).end()
}
