import type { Request, Response } from 'express'
import { folderWithin, type Grant } from '../../core/clients/grant.ts'
import type { Format } from '../../core/media/formats.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { badParameter } from '../../core/problem.ts'
import type { RepeatedRequests } from '../../service/clients/repeated-requests.ts'
import type { EagerTransforms } from '../../service/delivery/eager-transforms.ts'
import type { RemoteUpload } from '../../service/remote/upload.ts'
import type { Upload } from '../../service/upload/upload-request.ts'
import { jsonBody } from '../body/json.ts'
import { checkedBody } from '../body/parse.ts'
import { trustedCallerOf } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { noteStored } from '../console/audited-by.ts'
import { FETCHED_PROBLEMS, MEDIA_PROBLEMS, TRANSFORMED_PROBLEMS } from '../delivery/problems.ts'
import { FILE_BYTES } from '../documents/contents.ts'
import { EXAMPLE_RECORD } from '../documents/examples.ts'
import { path } from '../documents/parameters.ts'
import { endpoint, JSON_PROBLEMS } from '../endpoint/endpoint.ts'
import { text } from '../endpoint/query.ts'
import { answerOnce } from '../endpoint/repeats.ts'
import type { Reply } from '../endpoint/reply.ts'
import { isOfType } from '../request.ts'
import { FORM, FORM_PROBLEMS, RECORDS, STORED_PROBLEMS } from './described.ts'
import { isFolderField } from './folder-fields.ts'
import type { Receive, RespondStored } from './receive.ts'
import { checkedRemoteUpload, type RemoteUploadBody, remoteUpload } from './url-upload.ts'

/** The services that handle these requests. */
export interface Services {
  upload: Upload
  remoteUpload: RemoteUpload
  eager: Pick<EagerTransforms, 'check'>
  limits: Limits
  receive: Receive
  respondStored: RespondStored
  repeatedRequests: RepeatedRequests
  /** Maximum number of files per request. */
  maxFiles: number
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

// Enough for a URL of 2000 characters, twenty query strings of the
// same length and the JSON around them, each character escaped.
const REMOTE_MAX_BYTES = 256 * 1024

const QUERY = { path: text('Folder of the files: up to 8 levels, 200 bytes.') }

const uploadFiles = endpoint({
  route: 'POST /v1/upload',
  id: 'uploadFiles',
  tag: 'Uploads',
  summary: 'Upload files as a form',
  description:
    'Stores the parts named `file` of a form, together or not at all. JSON is accepted as by `POST /v1/upload/url`.',
  access: { secret: 'upload' },
  query: QUERY,
  // Without the JSON: generators of clients would take it for the only body.
  bodies: { 'multipart/form-data': FORM },
  once: true,
  responses: RECORDS,
  problems: [
    ...JSON_PROBLEMS,
    ...FORM_PROBLEMS,
    '400 bad_path',
    ...STORED_PROBLEMS,
    ...FETCHED_PROBLEMS,
    ...MEDIA_PROBLEMS,
    ...TRANSFORMED_PROBLEMS,
  ],
  audit: 'file.upload',
  examples: [
    {
      id: 'form',
      summary: 'A form with one file',
      body: { file: 'photo.jpg' },
      status: 200,
      response: [EXAMPLE_RECORD],
    },
  ],

  async handle(services: Services, { req, res, caller, query: { path }, signal }) {
    const { limits, maxFiles, receive, upload, minBytesPerSecond } = services
    const { client } = caller
    // Clients sent this before `POST /v1/upload/url` existed.
    if (isOfType(req, 'application/json')) {
      await consumeRateLimit(req, res, { limits, limited: 'upload', client })
      const body = await jsonBody(req, {
        maxBytes: REMOTE_MAX_BYTES,
        minBytesPerSecond,
        payer: `client ${client.id}`,
      })
      const read = checkedRemoteUpload(checkedBody(remoteUpload, body), path)
      return answerOnce(req, {
        repeatedRequests: services.repeatedRequests,
        grant: caller,
        same: async () => body,
        execute: async () => ({
          reply: await storeRemote({ req, res }, read, { ...services, caller, signal }),
          content: body,
        }),
      })
    }
    const folder = folderWithin(path, caller)
    await consumeRateLimit(req, res, { limits, limited: 'upload', client })
    return receive(req, res, {
      grant: caller,
      caller: trustedCallerOf(req),
      as: 'form',
      maxFiles,
      isRepeatable: true,
      refuseField: (name, value) => checkFolderField(name, { value, path }),
      store: (arriving) => upload({ client, folder, ...arriving }),
    })
  },
})

const uploadFromUrl = endpoint({
  route: 'POST /v1/upload/url',
  // A file may be called `url`.
  passesOn: true,
  id: 'uploadFromUrl',
  tag: 'Uploads',
  summary: 'Store a file of another server',
  description: 'Fetches the file from `url` and stores it, completely or not at all.',
  access: { secret: 'upload' },
  query: QUERY,
  body: remoteUpload,
  once: true,
  bodyMaxBytes: REMOTE_MAX_BYTES,
  limited: 'upload',
  responses: RECORDS,
  problems: [
    '400 bad_path',
    ...STORED_PROBLEMS,
    ...FETCHED_PROBLEMS,
    ...MEDIA_PROBLEMS,
    ...TRANSFORMED_PROBLEMS,
  ],
  audit: 'file.upload',
  examples: [
    {
      id: 'port',
      summary: 'A port that is not allowed',
      body: { url: 'https://example.com:8080/photo.jpg' },
      status: 400,
    },
  ],

  async handle(services: Services, { req, res, caller, query, body, signal }) {
    const read = checkedRemoteUpload(body, query.path)
    return storeRemote({ req, res }, read, { ...services, caller, signal })
  },
})

const uploadFile = endpoint({
  route: 'PUT /v1/upload/:name',
  path: '/v1/upload/{path}',
  // The delete of a file: http/files/delete.ts.
  alsoAllows: ['DELETE'],
  id: 'uploadFile',
  tag: 'Uploads',
  summary: 'Upload one file as the request body',
  description: 'The format is detected from the bytes. `Content-Type` is ignored.',
  access: { secret: 'upload' },
  parameters: [path('path', 'Name of the file.')],
  query: QUERY,
  bodies: { 'application/octet-stream': FILE_BYTES },
  once: true,
  responses: RECORDS,
  problems: ['400 bad_path', '415 unsupported_media_type', ...STORED_PROBLEMS],
  audit: 'file.upload',
  examples: [
    {
      id: 'photo',
      summary: 'A photo',
      parameters: { path: 'photo.jpg' },
      body: 'photo.jpg',
      status: 200,
      response: [EXAMPLE_RECORD],
    },
  ],

  async handle(
    { limits, receive, upload }: Services,
    { req, res, caller, params: { name = '' }, query: { path } },
  ) {
    const { client } = caller
    const folder = folderWithin(path, caller)
    await consumeRateLimit(req, res, { limits, limited: 'upload', client })
    return receive(req, res, {
      grant: caller,
      caller: trustedCallerOf(req),
      as: 'file',
      name,
      maxFiles: 1,
      isRepeatable: true,
      store: (arriving) => upload({ client, folder, ...arriving }),
    })
  },
})

/** Uploads with a secret: a form, a file of another server, and a file as the body. */
export const UPLOADS = [uploadFiles, uploadFromUrl, uploadFile]

/** @throws Problem 400 for a field with another folder than the query has */
function checkFolderField(
  param: string,
  { value, path }: { value: string | undefined; path: string | undefined },
): void {
  if (!isFolderField(param) || path === undefined || !value || value === path) return
  throw badParameter({
    param,
    expected: 'the folder of the query (or send only one of them)',
    received: value,
  })
}

async function storeRemote(
  { req, res }: { req: Request; res: Response },
  { url, name, path, requested }: RemoteUploadBody,
  {
    caller: grant,
    limits,
    remoteUpload: store,
    eager,
    respondStored,
    signal,
  }: Services & { caller: Grant; signal: AbortSignal },
): Promise<Reply> {
  const { client } = grant
  const folder = folderWithin(path, grant)
  await consumeRateLimit(req, res, { limits, limited: 'fetch', client })
  const check = (format: Format) => eager.check(grant, format, requested.transforms ?? [])
  const annotations = () => requested.annotations
  const stored = await store({ client, asker: 'secret', url, name, folder, check, annotations, signal })
  noteStored(req, [stored])
  return respondStored({ grant, caller: trustedCallerOf(req), stored: [stored], requested, signal })
}
