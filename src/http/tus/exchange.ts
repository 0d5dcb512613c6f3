import type { Request, RequestHandler, Response } from 'express'
import type { Client } from '../../core/clients/client.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { Problem } from '../../core/problem.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { createSignSrc, unsignedSrc } from '../../service/clients/signed-src.ts'
import type { SignedLinks } from '../../service/upload/links/upload-links.ts'
import { uploadNotFound } from '../../service/upload/resumable/resumable-problems.ts'
import type { Bearer } from '../../service/upload/resumable/resumables.ts'
import type { UploadedFile } from '../../service/upload/upload-request.ts'
import { digestsIn } from '../body/digests.ts'
import { slowBody, watchRate } from '../body/min-rate.ts'
import { callerBySecret } from '../caller/caller.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { noteStored } from '../console/audited-by.ts'
import { stateOf } from '../request-state.ts'
import { takeBody } from './body.ts'
import { concatOf } from './concat.ts'
import { corsTus } from './headers.ts'
import { headersOfTus, ietfHeaders, ietfRequest, send104 } from './ietf.ts'
import type { TusOptions } from './protocol.ts'
import { checkPatch, checksumOf, checkVersion, TUS_PATH, TUS_VERSION } from './request.ts'
import type { UploadProgress } from './upload-progress.ts'
import { finishedRecord } from './upload-record.ts'

/** The services that handle requests of resumable uploads. */
export interface TusServices {
  tus: TusOptions
  baseUrl: string
  clients: Clients
  signedLinks: Pick<SignedLinks, 'read' | 'check'>
  findClient: (id: string) => Client | undefined
  limits: Limits
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

/** Creates an upload with a secret. */
export function createUpload(services: TusServices): RequestHandler {
  const exchange = exchanges(services)
  return (req, res) => exchange(req, res, {})
}

/** Creates an upload with the signed link that is requested. */
export function resumableByLink(services: TusServices): RequestHandler {
  const exchange = exchanges(services)
  return (req, res) => {
    corsTus(req, res, () => {})
    return exchange(req, res, { link: req.url })
  }
}

/** Appends bytes to an upload, returns its offset, or deletes it. */
export function exchangeOfUpload(services: TusServices): RequestHandler {
  const exchange = exchanges(services)
  return (req, res) => exchange(req, res, namedIn(req))
}

/** Responds with the record of the file of an upload, or with the progress of the upload. */
export function recordOf(services: TusServices): RequestHandler {
  const { resumables } = services.tus
  return async (req, res) => {
    const { id, ...named } = namedIn(req)
    const grant = bearerOf(req, named, services)
    const { size, offset, isPartial } = await resumables.find(grant, id)
    const record = offset === size && !isPartial ? await finished(services, { grant, id }, named) : undefined
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
}

function finished(
  { clients, baseUrl, tus: { resumables } }: TusServices,
  { grant, id }: { grant: Bearer; id: string },
  { link, stored }: Pick<NamedUpload, 'link'> & { stored?: (file: UploadedFile) => void },
): Promise<string | undefined> {
  // The holder of an upload link may not read the files of the client.
  const isBySecret = link === undefined && !grant.byAddress
  const sign = isBySecret ? createSignSrc(clients.urlKeys, grant) : unsignedSrc
  return finishedRecord(grant, id, { resumables, baseUrl, sign, ...(stored ? { stored } : {}) })
}

/** Handles requests of tus, and of the protocol of the IETF in the words of tus. */
function exchanges(services: TusServices) {
  const { tus, baseUrl, limits, minBytesPerSecond, signedLinks } = services
  const { resumables, sends104 } = tus
  return async (req: Request, res: Response, { id, ...named }: NamedUpload): Promise<void> => {
    const { method } = req
    const ietf = ietfRequest(req)
    res.setHeader('Tus-Resumable', TUS_VERSION)
    if (!ietf) checkVersion(req)
    const grant = bearerOf(req, named, services)
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
      const record = await finished(
        services,
        { grant, id: complete },
        { ...named, stored: (file) => noteStored(req, [file]) },
      )
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
        tus,
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
}

/**
 * The upload that a request names: by its ID, with the client when its URL alone authorizes; or the link that creates one.
 */
export interface NamedUpload {
  id?: string
  clientId?: string | undefined
  link?: string
}

export function namedIn(req: Request): NamedUpload & { id: string } {
  const [id = '', clientId] = String(req.params.id).split('~')
  return { id, clientId }
}

/**
 * Authenticates the request, and determines the client that may upload.
 *
 * @throws Problem 401, 403, 404
 */
export function bearerOf(
  req: Request,
  { link, clientId }: NamedUpload,
  { clients, signedLinks, findClient }: Pick<TusServices, 'clients' | 'signedLinks' | 'findClient'>,
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
