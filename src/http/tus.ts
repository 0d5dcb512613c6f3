import { setTimeout as pause } from 'node:timers/promises'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { Client } from '../core/client.ts'
import type { Limits } from '../core/ports/rate-limiter.ts'
import { Problem } from '../core/problem.ts'
import type { Clients } from '../service/clients.ts'
import { type Bearer, uploadNotFound } from '../service/resumable.ts'
import { CHECKSUM_ALGORITHMS } from '../service/resumable-pieces.ts'
import type { SignedLinks } from '../service/signed-links.ts'
import type { UploadedFile } from '../service/upload.ts'
import { watchRate } from './body-rate.ts'
import { callerBySecret, nameCaller } from './caller.ts'
import { methodNotAllowed } from './problem.ts'
import { takePoints } from './rate-limit.ts'
import { SIGNED_LINK } from './signed-upload.ts'
import { takeBody } from './tus-body.ts'
import { checkPatch, checksumOf, checkVersion, TUS_HEADERS, TUS_VERSION, tusMethod } from './tus-request.ts'
import { exchangeTus, TUS_PATH, type TusOptions } from './tus-server.ts'
import { uploadToWire } from './upload-record.ts'

interface Dependencies extends TusOptions {
  clients: Clients
  signedLinks: Pick<SignedLinks, 'read' | 'check'>
  findClient: (id: string) => Client | undefined
  limits: Limits
  /** Of a body, see {@link watchRate}. */
  minBytesPerSecond: number
}

// Heroku gives up an answer after 30 s; whoever gets none of the file asks again, and it is stored all the same.
const FINISH_WAIT_MS = 20_000

const EXTENSIONS = 'creation,creation-with-upload,creation-defer-length,termination,expiration,checksum'
const EXPOSED = [
  ...[
    'Location',
    'Retry-After',
    'X-Request-Id',
    'Tus-Resumable',
    'Tus-Version',
    'Tus-Extension',
    'Tus-Max-Size',
  ],
  ...['Tus-Checksum-Algorithm', 'Upload-Offset', 'Upload-Length', 'Upload-Defer-Length', 'Upload-Metadata'],
  ...['Upload-Expires', 'Upload-Record', 'RateLimit', 'RateLimit-Policy'],
]
/**
 * Uploads in several requests, by tus 1.0: `POST /v1/tus` begins one, `PATCH`, `HEAD` and `DELETE` on the address that it
 * answers go on with it, and `GET` there answers the record of the original that it has become.
 *
 * @see https://tus.io/protocols/resumable-upload
 */
export function tusRoutes({
  clients,
  signedLinks,
  findClient,
  limits,
  minBytesPerSecond,
  ...options
}: Dependencies): Router {
  const { resumables, maxBytes, baseUrl } = options

  /** Who may upload by this request, and where to: all that is asked of a caller stands here. @throws Problem 401, 403, 404 */
  function authorise(
    req: Request,
    { link, clientId }: { link?: string; clientId?: string | undefined },
  ): Bearer {
    if (link !== undefined) {
      const { client } = signedLinks.read(link)
      nameCaller(req, client)
      return { client }
    }
    // Its address, which nobody can guess, is what whoever has begun it by a link has of it.
    if (clientId === undefined || req.headers.authorization !== undefined)
      return callerBySecret(req, clients, 'upload')
    const client = findClient(clientId)
    if (!client || client.removing) throw uploadNotFound()
    nameCaller(req, client)
    return { client, byAddress: true }
  }

  function toWire(file: UploadedFile, { client }: Bearer): string {
    // All ASCII, as a header has to be.
    return JSON.stringify([uploadToWire(file, { client, baseUrl, options: {} })]).replace(
      /[^\x20-\x7e]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
  }

  /** Stores what is complete; undefined when that takes longer than anybody should wait. @throws Problem */
  async function finished(grant: Bearer, id: string): Promise<string | undefined> {
    const left = new AbortController()
    const file = resumables.finish(grant, id)
    // It goes on without us.
    file.catch(() => {})
    try {
      const first = await Promise.race([file, pause(FINISH_WAIT_MS, undefined, { signal: left.signal })])
      return first && toWire(first, grant)
    } finally {
      left.abort()
    }
  }

  const exchange = async (req: Request, res: Response, { id, ...named }: NamedUpload) => {
    const method = tusMethod(req)
    res.setHeader('Tus-Resumable', TUS_VERSION)
    checkVersion(req)
    const grant = authorise(req, named)
    if (method === 'PATCH') checkPatch(req)
    const checksum = checksumOf(req)
    if (named.link !== undefined) await signedLinks.check(signedLinks.read(named.link))
    if (id === undefined) await takePoints(req, res, { limits, limited: 'upload', client: grant.client })
    const body = takeBody(req)
    let slow: Problem | undefined
    const stopWatching = watchRate(req, minBytesPerSecond, (problem) => {
      slow = problem
      body.end()
    })
    const recordHeader = async (complete: string): Promise<Record<string, string>> => {
      const record = await finished(grant, complete)
      return record === undefined ? {} : { 'Upload-Record': record }
    }
    try {
      const answer = await exchangeTus(
        {
          ...{ grant, method, id, headers: tusHeaders(req), body: body.bytes, checksum },
          ...{ link: named.link, finished: recordHeader },
          addressOf: (created) =>
            `${baseUrl}${TUS_PATH}/${created}${named.link === undefined ? '' : `~${grant.client.id}`}`,
        },
        options,
      )
      if (slow) throw keptSlow(slow)
      for (const [name, value] of answer.headers)
        if (!name.startsWith('access-control-')) res.setHeader(name, value)
      if (method === 'HEAD' && id !== undefined && isComplete(answer.headers))
        for (const [name, value] of Object.entries(await recordHeader(id))) res.setHeader(name, value)
      res.status(answer.status).end()
    } finally {
      stopWatching()
      body.leave()
    }
  }

  const answerRecord = async (
    req: Request,
    res: Response,
    { id, ...named }: NamedUpload & { id: string },
  ) => {
    const grant = authorise(req, named)
    const { size, offset } = await resumables.find(grant, id)
    const record = offset === size ? await finished(grant, id) : undefined
    if (record !== undefined) {
      res.type('application/json').send(record)
      return
    }
    res.setHeader('Retry-After', '2')
    res.status(202).json({ state: offset === size ? 'storing' : 'receiving', offset, size: size ?? null })
  }

  const routes = Router({ strict: true, caseSensitive: true })
  routes.use(TUS_PATH, readableByPages)
  routes.options([TUS_PATH, `${TUS_PATH}/`, `${TUS_PATH}/:id`], (_req, res) => {
    res.setHeader('Tus-Resumable', TUS_VERSION)
    res.setHeader('Tus-Version', TUS_VERSION)
    res.setHeader('Tus-Extension', EXTENSIONS)
    res.setHeader('Tus-Checksum-Algorithm', CHECKSUM_ALGORITHMS.join(','))
    res.setHeader('Tus-Max-Size', maxBytes)
    res.setHeader('Access-Control-Allow-Methods', 'POST, HEAD, GET, PATCH, DELETE, OPTIONS')
    res.setHeader('Access-Control-Allow-Headers', TUS_HEADERS.join(', '))
    res.setHeader('Access-Control-Max-Age', '86400')
    res.status(204).end()
  })
  // What is posted to a signed link in the words of tus begins an upload by it.
  routes.post(SIGNED_LINK, (req, res, next) => {
    if (req.get('Tus-Resumable') === undefined) return next()
    readableByPages(req, res, () => {})
    return exchange(req, res, { link: req.url })
  })
  routes.all([TUS_PATH, `${TUS_PATH}/`], (req, res, next) => {
    if (tusMethod(req) !== 'POST') return methodNotAllowed('POST', 'OPTIONS')(req, res, next)
    return exchange(req, res, {})
  })
  routes.all(`${TUS_PATH}/:id`, (req, res, next) => {
    const [id = '', clientId] = String(req.params.id).split('~')
    const method = tusMethod(req)
    if (method === 'GET') return answerRecord(req, res, { id, clientId })
    if (method === 'HEAD' || method === 'PATCH' || method === 'DELETE')
      return exchange(req, res, { id, clientId })
    return methodNotAllowed('HEAD', 'GET', 'PATCH', 'DELETE', 'OPTIONS')(req, res, next)
  })
  return routes
}

/** The upload that a request names: by its id, with its client where it may go on by its address; or the link that begins one. */
interface NamedUpload {
  id?: string
  clientId?: string | undefined
  link?: string
}

/** A page of another origin carries its secret in a header of its own, never in a cookie. */
const readableByPages: RequestHandler = (_req, res, next) => {
  res.setHeader('Access-Control-Allow-Origin', '*')
  res.setHeader('Access-Control-Expose-Headers', EXPOSED.join(', '))
  res.setHeader('Cache-Control', 'no-store')
  next()
}

/** What the package is to know of a request: a proxy's headers, for example, it would refuse when there are several. */
function tusHeaders(req: Request): Record<string, string> {
  const { headers } = req
  return Object.fromEntries(
    ['content-type', 'content-length', 'tus-resumable', ...Object.keys(headers).filter(isOfUpload)].flatMap(
      (name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]]),
    ),
  )
}

function isOfUpload(name: string): boolean {
  return name.startsWith('upload-') && name !== 'upload-checksum'
}

function isComplete(headers: Headers): boolean {
  return headers.get('upload-offset') === headers.get('upload-length')
}

/** 408: unlike in a form, what has come is kept. */
function keptSlow({ status, code, message, members, headers }: Problem): Problem {
  const detail = message.replace('nothing was kept', 'what has come is kept')
  return new Problem({ status, code, detail, members, headers })
}
