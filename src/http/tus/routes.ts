import { type Request, type Response, Router } from 'express'
import type { Client } from '../../core/clients/client.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { Problem } from '../../core/problem.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { createSignSrc, unsignedSrc } from '../../service/clients/signed-src.ts'
import { uploadNotFound } from '../../service/upload/resumable-problems.ts'
import type { Bearer } from '../../service/upload/resumables.ts'
import type { SignedLinks } from '../../service/upload/upload-links.ts'
import type { UploadedFile } from '../../service/upload/upload-request.ts'
import { digestsIn } from '../body/digests.ts'
import { slowBody, watchRate } from '../body/min-rate.ts'
import { callerBySecret } from '../caller/caller.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { noteStored } from '../console/audited-by.ts'
import { methodNotAllowed } from '../problem.ts'
import { stateOf } from '../request-state.ts'
import { SIGNED_LINK } from '../upload/link-routes.ts'
import type { UploadProgress } from '../wire/links.ts'
import { takeBody } from './body.ts'
import { corsTus, tusOptions } from './headers.ts'
import { headersOfTus, ietfHeaders, ietfRequest, isResumable, send104 } from './ietf.ts'
import type { TusOptions } from './protocol.ts'
import {
  checkPatch,
  checksumOf,
  checkVersion,
  concatOf,
  TUS_PATH,
  TUS_VERSION,
  tusMethod,
} from './request.ts'
import { finishedRecord } from './upload-record.ts'

interface Dependencies extends TusOptions {
  clients: Clients
  signedLinks: Pick<SignedLinks, 'read' | 'check'>
  findClient: (id: string) => Client | undefined
  limits: Limits
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

/**
 * Resumable uploads with tus 1.0. `POST /v1/tus` creates an upload. `PATCH`, `HEAD` and `DELETE` on the returned URL append
 * to it, return its offset, or delete it. `GET` on it returns the record of the stored original.
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
  const { resumables, maxBytes, baseUrl, sends104 } = options
  const bearers = { clients, signedLinks, findClient }
  const finished = (
    grant: Bearer,
    id: string,
    { link, stored }: Pick<NamedUpload, 'link'> & { stored?: (file: UploadedFile) => void },
  ) => {
    // The holder of an upload link may not read the files of the client.
    const isBySecret = link === undefined && !grant.byAddress
    const sign = isBySecret ? createSignSrc(clients.urlKeys, grant) : unsignedSrc
    return finishedRecord(grant, id, { resumables, baseUrl, sign, ...(stored ? { stored } : {}) })
  }

  const exchange = async (req: Request, res: Response, { id, ...named }: NamedUpload) => {
    const method = tusMethod(req)
    const ietf = ietfRequest(req)
    res.setHeader('Tus-Resumable', TUS_VERSION)
    if (!ietf) checkVersion(req)
    const grant = bearerOf(req, named, bearers)
    if (!ietf && method === 'PATCH') checkPatch(req)
    const checksum = checksumOf(req)
    const digests = id === undefined ? digestsIn('Repr-Digest', req.get('Repr-Digest')) : []
    const concat = id === undefined ? concatOf(req) : undefined
    if (named.link !== undefined) await signedLinks.check(signedLinks.read(named.link))
    if (id === undefined)
      await consumeRateLimit(req, res, { limits, limited: 'upload', client: grant.client })
    const appended =
      ietf && id !== undefined && method === 'PATCH' ? await resumables.find(grant, id) : undefined
    const headers = ietf ? headersOfTus(req, ietf, { method, size: appended?.size }) : tusHeaders(req)
    const body = takeBody(req)
    let slow: Problem | undefined
    const stopWatching = watchRate(req, minBytesPerSecond, () => {
      // Unlike a form, an upload in several requests can resume.
      slow = slowBody(minBytesPerSecond, 'the received bytes are stored')
      body.end()
    })
    const addressOf = (created: string) =>
      `${baseUrl}${TUS_PATH}/${created}${named.link === undefined ? '' : `~${grant.client.id}`}`
    const recordHeader = async (complete: string): Promise<Record<string, string>> => {
      const record = await finished(grant, complete, { ...named, stored: (file) => noteStored(req, [file]) })
      return record === undefined ? {} : { 'Upload-Record': record }
    }
    try {
      // Loaded on first use: the package takes 5 MB of memory, which most services never need.
      const { exchangeTus } = await import('./protocol.ts')
      const response = await exchangeTus(
        {
          grant,
          method,
          id,
          headers,
          body: body.bytes,
          checksum,
          digests,
          concat,
          link: named.link,
          finished: recordHeader,
          addressOf,
          created: ietf && sends104 ? (upload) => send104(res, ietf, addressOf(upload)) : undefined,
        },
        options,
      )
      if (slow) throw slow
      for (const [name, value] of response.headers)
        if (!name.startsWith('access-control-')) res.setHeader(name, value)
      const isPartial = response.headers.get('upload-concat') === 'partial'
      if (method === 'HEAD' && id !== undefined && isComplete(response.headers) && !isPartial)
        for (const [name, value] of Object.entries(await recordHeader(id))) res.setHeader(name, value)
      if (ietf && method !== 'DELETE') {
        const declared = headers['upload-length'] ?? response.headers.get('upload-length') ?? undefined
        const size = appended?.size ?? (declared === undefined ? undefined : Number(declared))
        const offset = Number(response.headers.get('upload-offset') ?? 0)
        res.setHeaders(new Map(Object.entries(ietfHeaders(ietf, { offset, size }))))
      }
      res.status(ietf && method === 'HEAD' ? 204 : response.status).end()
    } finally {
      stopWatching()
      body.leave()
    }
  }

  const respondRecord = async (
    req: Request,
    res: Response,
    { id, ...named }: NamedUpload & { id: string },
  ) => {
    const grant = bearerOf(req, named, bearers)
    const { size, offset, isPartial } = await resumables.find(grant, id)
    const record = offset === size && !isPartial ? await finished(grant, id, named) : undefined
    if (record !== undefined) {
      res.type('application/json').send(record)
      return
    }
    res.setHeader('Retry-After', '2')
    const progress: UploadProgress = {
      state: offset === size && !isPartial ? 'storing' : 'receiving',
      offset,
      size: size ?? null,
    }
    res.status(202).json(progress)
  }

  const routes = Router({ strict: true, caseSensitive: true })
  routes.use(TUS_PATH, corsTus)
  routes.options([TUS_PATH, `${TUS_PATH}/`, `${TUS_PATH}/:id`], tusOptions({ maxBytes }))
  // A tus request to a signed link creates an upload with that link.
  routes.post(SIGNED_LINK, (req, res, next) => {
    if (!isResumable(req)) return next()
    corsTus(req, res, () => {})
    return exchange(req, res, { link: req.url })
  })
  routes.all([TUS_PATH, `${TUS_PATH}/`], (req, res, next) => {
    if (tusMethod(req) !== 'POST') return methodNotAllowed('POST', 'OPTIONS')(req, res, next)
    return exchange(req, res, {})
  })
  routes.all(`${TUS_PATH}/:id`, (req, res, next) => {
    const [id = '', clientId] = String(req.params.id).split('~')
    const method = tusMethod(req)
    if (method === 'GET') return respondRecord(req, res, { id, clientId })
    if (method === 'HEAD' || method === 'PATCH' || method === 'DELETE')
      return exchange(req, res, { id, clientId })
    return methodNotAllowed('HEAD', 'GET', 'PATCH', 'DELETE', 'OPTIONS')(req, res, next)
  })
  return routes
}

/**
 * The upload that a request names: by its ID, with the client when its URL alone authorizes; or the link that creates one.
 */
interface NamedUpload {
  id?: string
  clientId?: string | undefined
  link?: string
}

/**
 * Authenticates the request, and determines the client that may upload.
 *
 * @throws Problem 401, 403, 404
 */
function bearerOf(
  req: Request,
  { link, clientId }: NamedUpload,
  { clients, signedLinks, findClient }: Pick<Dependencies, 'clients' | 'signedLinks' | 'findClient'>,
): Bearer {
  if (link !== undefined) {
    const { client } = signedLinks.read(link)
    stateOf(req).clientId = client.id
    return { client }
  }
  // An upload that a link has created is authorized by its URL, which cannot be guessed.
  if (clientId === undefined || req.headers.authorization !== undefined || stateOf(req).console)
    return callerBySecret(req, clients, 'upload')
  const client = findClient(clientId)
  if (!client || client.removing) throw uploadNotFound()
  stateOf(req).clientId = client.id
  return { client, byAddress: true }
}

/** The headers for the package. Others are left out, because it would reject, for example, repeated proxy headers. */
function tusHeaders(req: Request): Record<string, string> {
  const { headers } = req
  return Object.fromEntries(
    ['content-type', 'content-length', 'tus-resumable', ...Object.keys(headers).filter(isOfUpload)].flatMap(
      (name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]]),
    ),
  )
}

function isOfUpload(name: string): boolean {
  return name.startsWith('upload-') && name !== 'upload-checksum' && name !== 'upload-concat'
}

function isComplete(headers: Headers): boolean {
  return headers.get('upload-offset') === headers.get('upload-length')
}
