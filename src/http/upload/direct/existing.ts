import type { Request, RequestHandler } from 'express'
import { isFileId } from '../../../core/files/object-key.ts'
import { createSignSrc, unsignedSrc } from '../../../service/clients/signed-src.ts'
import type { DirectUploads } from '../../../service/upload/direct/direct-uploads.ts'
import { preflight } from '../../caller/preflight.ts'
import { consumeRateLimit } from '../../caller/rate-limit.ts'
import { noteStored } from '../../console/audited-by.ts'
import { EXAMPLE } from '../../documents/examples.ts'
import { SECRET_PROBLEMS } from '../../endpoint/access.ts'
import { json, type ServedEndpoint } from '../../endpoint/endpoint.ts'
import { sendReply } from '../../endpoint/reply.ts'
import { UPLOAD_ID } from '../../tus/described.ts'
import { bearerOf, namedIn, type TusServices } from '../../tus/exchange.ts'
import { corsTus } from '../../tus/headers.ts'
import { type UploadProgress, uploadProgress } from '../../tus/upload-progress.ts'
import { finishedFile } from '../../tus/upload-record.ts'
import { uploadToWire } from '../../wire/file.ts'
import { LINK_PROBLEMS, RECORDS, STORED_PROBLEMS } from '../described.ts'
import { directUpload, directUploadToWire } from './wire.ts'

export const PATH = '/v1/upload/direct'
const OF_UPLOAD = [...SECRET_PROBLEMS, '404 upload_not_found', '410 upload_expired'] as const

/** The services that handle these requests. */
export interface DirectServices
  extends Pick<
    TusServices,
    'baseUrl' | 'clients' | 'signedLinks' | 'findClient' | 'limits' | 'minBytesPerSecond'
  > {
  directUploads: DirectUploads
}

const answerPreflight = preflight({
  methods: 'GET, POST, DELETE',
  headers: 'Authorization, Content-Type, X-Requested-With, X-Request-Id',
  allow: 'GET, HEAD, POST, DELETE, OPTIONS',
})

/** CORS for any origin, as for resumable uploads: a page sends a link, or a secret in a header, and never a cookie. */
export const cors: RequestHandler = (req, res, next) => {
  corsTus(req, res, () => {})
  answerPreflight(req, res, next)
}

// In the examples of the API document.
export const EXAMPLE_UPLOAD = {
  id: EXAMPLE.directId,
  url: `${EXAMPLE.baseUrl}${PATH}/${EXAMPLE.directId}`,
  state: 'receiving',
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
  missingBytes: 11,
}

export const getDirectUpload: ServedEndpoint<DirectServices> = {
  route: `GET ${PATH}/:id`,
  id: 'getDirectUpload',
  tag: 'Uploads',
  summary: 'Get the missing requests of a direct upload',
  description:
    'Returns requests for the parts that the bucket has not received, up to 200, signed again. So a file of more parts and an interrupted upload continue, also when the URLs have expired.',
  access: { secret: 'upload' },
  parameters: [UPLOAD_ID],
  responses: { 200: json(directUpload, 'The upload, with the missing requests.', ['Cache-Control']) },
  examples: [
    {
      id: 'text',
      summary: 'A file of 11 bytes, none of which has arrived',
      parameters: { id: EXAMPLE.directId },
      status: 200,
      response: EXAMPLE_UPLOAD,
    },
  ],
  problems: [...OF_UPLOAD, '429 rate_limited'],
  first: cors,

  handlerOf: (services) => async (req, res) => {
    const { directUploads, limits, baseUrl } = services
    const { id, ...named } = namedIn(req)
    const grant = bearerOf(req, named, services)
    const { state } = await directUploads.find(grant, id)
    // Up to 200 signatures take as much CPU time as a small upload.
    if (state === 'receiving')
      await consumeRateLimit(req, res, { limits, limited: 'upload', client: grant.client })
    const url = `${baseUrl}${PATH}/${req.params.id}`
    sendReply(res, { json: directUploadToWire(await directUploads.rest(grant, id), url) })
  },
}

export const completeDirectUpload: ServedEndpoint<DirectServices> = {
  route: `POST ${PATH}/:id/complete`,
  id: 'completeDirectUpload',
  tag: 'Uploads',
  summary: 'Complete an upload straight into the bucket',
  description:
    'Checks the file in the bucket as any upload, and stores it. A repetition returns the same record. It has no body.',
  access: { secret: 'upload' },
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
    const { directUploads, clients, limits, baseUrl } = services
    const { id, ...named } = namedIn(req)
    const grant = bearerOf(req, named, services)
    const { size, state } = await directUploads.find(grant, id)
    // Before the parts are listed and joined. A client may poll until the file is stored.
    if (state === 'receiving')
      await consumeRateLimit(req, res, { limits, limited: 'upload', client: grant.client })
    const file = await finishedFile(directUploads.complete(grant, id), {
      // The audit log has the upload once.
      stored: state === 'stored' ? undefined : (stored) => noteStored(req, [stored]),
    })
    if (!file) {
      const progress: UploadProgress = { state: 'storing', offset: size, size }
      sendReply(res, { status: 202, json: progress, headers: { 'Retry-After': retryAfterOf(size) } })
      return
    }
    // The holder of an upload link may not read the files of the client.
    const sign = grant.byAddress ? unsignedSrc : createSignSrc(clients.urlKeys, grant)
    sendReply(res, { json: [uploadToWire(file, { client: grant.client, baseUrl, sign, options: {} })] })
  },
}

// A file is stored at some 100 MB/s: a client asks about ten times until then, but at least once a minute.
const BYTES_PER_SECOND_OF_WAIT = 1e9

function retryAfterOf(size: number): string {
  return String(Math.min(60, Math.max(2, Math.round(size / BYTES_PER_SECOND_OF_WAIT))))
}

export const abortDirectUpload: ServedEndpoint<DirectServices> = {
  route: `DELETE ${PATH}/:id`,
  id: 'abortDirectUpload',
  // The delete of a file in a folder called `direct`.
  passesOn: true,
  tag: 'Uploads',
  summary: 'Abort an upload straight into the bucket',
  description:
    'Deletes the bytes that the bucket has received. A stored file remains, and one that is being stored cannot be aborted.',
  access: { secret: 'upload' },
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
  problems: [...SECRET_PROBLEMS, '404 upload_not_found', '409 upload_complete'],
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
