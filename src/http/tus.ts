import { setTimeout as pause } from 'node:timers/promises'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { Limits } from '../core/ports/rate-limiter.ts'
import { Problem } from '../core/problem.ts'
import type { Grant } from '../core/scope.ts'
import type { Clients } from '../service/clients.ts'
import { CHECKSUM_ALGORITHMS } from '../service/resumable-pieces.ts'
import type { UploadedFile } from '../service/upload.ts'
import { watchRate } from './body-rate.ts'
import { callerBySecret } from './caller.ts'
import { methodNotAllowed } from './problem.ts'
import { takePoints } from './rate-limit.ts'
import { takeBody } from './tus-body.ts'
import { checkPatch, checksumOf, checkVersion, TUS_VERSION, tusMethod } from './tus-request.ts'
import { exchangeTus, TUS_PATH, type TusOptions } from './tus-server.ts'
import { uploadToWire } from './upload-record.ts'

interface Dependencies extends TusOptions {
  clients: Clients
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
const ALLOWED = [
  ...[
    'Authorization',
    'Content-Type',
    'Tus-Resumable',
    'Upload-Offset',
    'Upload-Length',
    'Upload-Defer-Length',
  ],
  ...['Upload-Metadata', 'Upload-Checksum', 'X-HTTP-Method-Override', 'X-Requested-With', 'X-Request-Id'],
]

/**
 * Uploads in several requests, by tus 1.0: `POST /v1/tus` begins one, `PATCH`, `HEAD` and `DELETE` on the address that it
 * answers go on with it, and `GET` there answers the record of the original that it has become.
 *
 * @see https://tus.io/protocols/resumable-upload
 */
export function tusRoutes({ clients, limits, minBytesPerSecond, ...options }: Dependencies): Router {
  const { resumables, maxBytes, baseUrl } = options

  /** Who may upload by this request, and where to: all that is asked of a caller stands here. @throws Problem 401, 403 */
  function authorise(req: Request): Grant {
    return callerBySecret(req, clients, 'upload')
  }

  function toWire(file: UploadedFile, { client }: Grant): string {
    // All ASCII, as a header has to be.
    return JSON.stringify([uploadToWire(file, { client, baseUrl, options: {} })]).replace(
      /[^\x20-\x7e]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
  }

  /** Stores what is complete; undefined when that takes longer than anybody should wait. @throws Problem */
  async function finished(grant: Grant, id: string): Promise<string | undefined> {
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

  const exchange = async (req: Request, res: Response, id: string | undefined) => {
    const method = tusMethod(req)
    res.setHeader('Tus-Resumable', TUS_VERSION)
    checkVersion(req)
    const grant = authorise(req)
    if (method === 'PATCH') checkPatch(req)
    const checksum = checksumOf(req)
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
        { grant, method, id, headers: tusHeaders(req), body: body.bytes, checksum, finished: recordHeader },
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

  const answerRecord = async (req: Request, res: Response, id: string) => {
    const grant = authorise(req)
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
    res.setHeader('Access-Control-Allow-Headers', ALLOWED.join(', '))
    res.setHeader('Access-Control-Max-Age', '86400')
    res.status(204).end()
  })
  routes.all([TUS_PATH, `${TUS_PATH}/`], (req, res, next) => {
    if (tusMethod(req) !== 'POST') return methodNotAllowed('POST', 'OPTIONS')(req, res, next)
    return exchange(req, res, undefined)
  })
  routes.all(`${TUS_PATH}/:id`, (req, res, next) => {
    const id = String(req.params.id)
    const method = tusMethod(req)
    if (method === 'GET') return answerRecord(req, res, id)
    if (method === 'HEAD' || method === 'PATCH' || method === 'DELETE') return exchange(req, res, id)
    return methodNotAllowed('HEAD', 'GET', 'PATCH', 'DELETE', 'OPTIONS')(req, res, next)
  })
  return routes
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
