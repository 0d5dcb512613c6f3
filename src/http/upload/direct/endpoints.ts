import type { Request, RequestHandler } from 'express'
import { isFileId } from '../../../core/files/object-key.ts'
import { createSignSrc, unsignedSrc } from '../../../service/clients/signed-src.ts'
import type { DirectUploads } from '../../../service/upload/direct/direct-uploads.ts'
import { checkBodyType, jsonBody } from '../../body/json.ts'
import { checkedBody } from '../../body/parse.ts'
import { callerBySecret } from '../../caller/caller.ts'
import { clientIp } from '../../caller/client-ip.ts'
import { consumeRateLimit } from '../../caller/rate-limit.ts'
import { noteStored } from '../../console/audited-by.ts'
import { EXAMPLE } from '../../documents/examples.ts'
import { SECRET_PROBLEMS } from '../../endpoint/access.ts'
import { JSON_PROBLEMS, json, type ServedEndpoint } from '../../endpoint/endpoint.ts'
import { sendReply } from '../../endpoint/reply.ts'
import { stateOf } from '../../request-state.ts'
import { UPLOAD_ID } from '../../tus/described.ts'
import { bearerOf, namedIn, type TusServices } from '../../tus/exchange.ts'
import { corsTus } from '../../tus/headers.ts'
import { type UploadProgress, uploadProgress } from '../../tus/upload-progress.ts'
import { finishedFile } from '../../tus/upload-record.ts'
import { uploadToWire } from '../../wire/file.ts'
import { LINK_PROBLEMS, RECORDS, STORED_PROBLEMS } from '../described.ts'
import { checkedDirectUpload, directUpload, directUploadToWire, newDirectUpload } from './wire.ts'

/** The services that handle these requests. */
export interface DirectServices
  extends Pick<
    TusServices,
    'baseUrl' | 'clients' | 'signedLinks' | 'findClient' | 'limits' | 'minBytesPerSecond'
  > {
  directUploads: DirectUploads
}

const PATH = '/v1/upload/direct'
// Tags and metadata have 21 KB, with each character escaped.
const BODY_MAX_BYTES = 128 * 1024
const OF_UPLOAD = [...SECRET_PROBLEMS, '404 upload_not_found', '410 upload_expired'] as const

/** CORS for any origin, as for resumable uploads: a page sends a link, or a secret in a header, and never a cookie. */
const cors: RequestHandler = (req, res, next) => {
  corsTus(req, res, () => {})
  if (req.method !== 'OPTIONS') return next()
  res.setHeader('Allow', 'POST, DELETE, OPTIONS')
  res.setHeader('Access-Control-Allow-Methods', 'POST, DELETE')
  res.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, X-Requested-With, X-Request-Id')
  res.setHeader('Access-Control-Max-Age', '86400')
  res.status(204).end()
}

const beginDirectUpload: ServedEndpoint<DirectServices> = {
  route: `POST ${PATH}`,
  id: 'beginDirectUpload',
  // A file may be called `direct`.
  passesOn: true,
  tag: 'Uploads',
  summary: 'Begin an upload straight into the bucket',
  description:
    'Returns signed requests with which the client sends the file to S3 itself. Installations that store files on a disk refuse it.',
  access: 'secret',
  body: { 'application/json': { schema: newDirectUpload } },
  responses: {
    201: json(directUpload, 'The upload has begun.', ['RateLimit', 'RateLimit-Policy']),
  },
  examples: [
    {
      id: 'photo',
      summary: 'A file of 11 bytes',
      body: { name: 'hello.txt', size: 11, folder: 'texts' },
      status: 201,
      response: {
        id: EXAMPLE.directId,
        url: `${EXAMPLE.baseUrl}${PATH}/${EXAMPLE.directId}`,
        expiresAt: '2026-12-01T00:00:00.000Z',
        requests: [
          {
            method: 'PUT',
            url: `https://photos.s3.eu-central-1.amazonaws.com/.sluice/tus/pieces/${EXAMPLE.clientId}/${EXAMPLE.directId}/0-11?partNumber=1&uploadId=2~x&X-Amz-Expires=43200`,
            headers: {},
            start: 0,
            size: 11,
          },
        ],
      },
    },
  ],
  problems: [
    ...SECRET_PROBLEMS,
    ...JSON_PROBLEMS,
    ...LINK_PROBLEMS,
    '400 bad_path',
    '403 direct_uploads_off',
    '413 too_large',
    '415 type_not_allowed',
    '429 rate_limited',
  ],
  first: cors,

  handlerOf: (services) => async (req, res) => {
    const { directUploads, limits, signedLinks, minBytesPerSecond, baseUrl } = services
    const mayHaveLink = req.headers.authorization === undefined && !stateOf(req).console
    const owner = mayHaveLink ? undefined : callerBySecret(req, services.clients, 'upload')
    checkBodyType(req, ['application/json'])
    const payer = owner ? `client ${owner.client.id}` : `address ${clientIp(req)}`
    const body = await jsonBody(req, { maxBytes: BODY_MAX_BYTES, minBytesPerSecond, payer })
    const upload = checkedDirectUpload(checkedBody(newDirectUpload, body))
    const { link } = upload
    const grant =
      owner && link === undefined ? owner : bearerOf(req, link === undefined ? {} : { link }, services)
    if (link !== undefined) await signedLinks.check(signedLinks.read(link))
    await consumeRateLimit(req, res, { limits, limited: 'upload', client: grant.client })
    const begun = await directUploads.begin(grant, upload)
    const url = `${baseUrl}${PATH}/${begun.id}${link === undefined ? '' : `~${grant.client.id}`}`
    sendReply(res, { status: 201, json: directUploadToWire(begun, url) })
  },
}

const completeDirectUpload: ServedEndpoint<DirectServices> = {
  route: `POST ${PATH}/:id/complete`,
  id: 'completeDirectUpload',
  tag: 'Uploads',
  summary: 'Complete an upload straight into the bucket',
  description:
    'Checks the file in the bucket as any upload, and stores it. A repetition returns the same record. It has no body.',
  access: 'secret',
  parameters: [UPLOAD_ID],
  responses: {
    200: { ...RECORDS[200], headers: ['Cache-Control'] },
    202: json(uploadProgress, 'The file is being stored. Repeat the request.', ['Retry-After']),
  },
  examples: [
    {
      id: 'text',
      summary: 'A file of 11 bytes',
      parameters: { id: EXAMPLE.directId },
      status: 200,
    },
  ],
  problems: [
    ...OF_UPLOAD,
    ...LINK_PROBLEMS,
    ...STORED_PROBLEMS,
    '400 bad_path',
    '400 size_mismatch',
    '404 file_not_found',
    '409 upload_incomplete',
  ],
  first: cors,

  handlerOf: (services) => async (req, res) => {
    const { directUploads, clients, baseUrl } = services
    const { id, ...named } = namedIn(req)
    const grant = bearerOf(req, named, services)
    const { size, isStored } = await directUploads.find(grant, id)
    const file = await finishedFile(directUploads.complete(grant, id), {
      // The audit log has the upload once.
      stored: isStored ? undefined : (stored) => noteStored(req, [stored]),
    })
    if (!file) {
      const progress: UploadProgress = { state: 'storing', offset: size, size }
      sendReply(res, { status: 202, json: progress, headers: { 'Retry-After': '2' } })
      return
    }
    // The holder of an upload link may not read the files of the client.
    const sign = grant.byAddress ? unsignedSrc : createSignSrc(clients.urlKeys, grant)
    sendReply(res, { json: [uploadToWire(file, { client: grant.client, baseUrl, sign, options: {} })] })
  },
}

const abortDirectUpload: ServedEndpoint<DirectServices> = {
  route: `DELETE ${PATH}/:id`,
  id: 'abortDirectUpload',
  // The delete of a file in a folder called `direct`.
  passesOn: true,
  tag: 'Uploads',
  summary: 'Abort an upload straight into the bucket',
  description: 'Deletes the bytes that the bucket has received. A stored file remains.',
  access: 'secret',
  parameters: [UPLOAD_ID],
  responses: { 204: { description: 'The upload was aborted.', headers: ['Cache-Control'] } },
  examples: [
    {
      id: 'text',
      summary: 'A file of 11 bytes',
      parameters: { id: EXAMPLE.directId },
      status: 204,
    },
  ],
  problems: [...SECRET_PROBLEMS, '404 upload_not_found'],
  first: cors,

  handlerOf: (services) => async (req, res, next) => {
    if (!isUpload(req)) return next()
    const { id, ...named } = namedIn(req)
    await services.directUploads.abort(bearerOf(req, named, services), id)
    sendReply(res, {})
  },
}

/** Names of files have an extension, so no upload has the path of a file. */
function isUpload(req: Request): boolean {
  return isFileId(namedIn(req).id)
}

/** Uploads whose bytes pass from the client to the bucket. */
export const DIRECT_UPLOADS = [beginDirectUpload, completeDirectUpload, abortDirectUpload]
