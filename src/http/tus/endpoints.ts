import { FILE_BYTES } from '../documents/contents.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { header } from '../documents/parameters.ts'
import { SECRET_PROBLEMS } from '../endpoint/access.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'
import { LINK_PROBLEMS, STORED_PROBLEMS } from '../upload/described.ts'
import { fileRecords } from '../wire/record.ts'
import { CREATED_HEADERS, TUS_BYTES_PROBLEMS, TUS_PROBLEMS, UPLOAD_ID } from './described.ts'
import { createUpload, exchangeOfUpload, recordOf, type TusServices } from './exchange.ts'
import { corsTus, tusOptions } from './headers.ts'
import { OFFSET_STREAM, TUS_VERSION } from './request.ts'
import { uploadProgress } from './upload-progress.ts'

const VERSION = header(
  'Tus-Resumable',
  'Version of tus.',
  { type: 'string', const: TUS_VERSION },
  { required: true },
)
const CHECKSUM = header('Upload-Checksum', 'Algorithm and digest of the body in base64, such as `sha1 …`.')
const UPLOAD = { id: EXAMPLE.uploadId, 'Tus-Resumable': TUS_VERSION }
const length = (description: string) => header('Upload-Length', description, { type: 'integer', minimum: 0 })

const OF_UPLOAD = [...SECRET_PROBLEMS, ...LINK_PROBLEMS, ...TUS_PROBLEMS, '503 upload_storing'] as const

const getSettings: ServedEndpoint<TusServices> = {
  route: 'OPTIONS /v1/tus{/{:id}}',
  path: '/v1/tus',
  id: 'getResumableUploadSettings',
  tag: 'Uploads',
  summary: 'Get the supported version and extensions of tus',
  access: 'public',
  responses: {
    204: {
      description: 'The settings, in headers.',
      headers: [
        'Tus-Resumable',
        'Tus-Version',
        'Tus-Extension',
        'Tus-Max-Size',
        'Tus-Checksum-Algorithm',
        'Cache-Control',
      ],
    },
  },
  examples: [{ id: 'settings', summary: 'The settings', status: 204 }],
  problems: [],
  first: corsTus,
  passesOn: true,
  handlerOf: ({ tus }) => tusOptions(tus),
}

const createResumable: ServedEndpoint<TusServices> = {
  // Some programs append a slash to the URL of the uploads.
  route: 'POST /v1/tus{/}',
  path: '/v1/tus',
  id: 'createResumableUpload',
  tag: 'Uploads',
  summary: 'Create a resumable upload',
  description:
    'The protocol is tus 1.0, or that of the IETF with `Upload-Complete` instead of `Tus-Resumable`. The body may have the first bytes of the file.',
  access: { secret: 'upload' },
  parameters: [
    VERSION,
    length('Size of the file in bytes.'),
    header('Upload-Concat', '`partial`, or `final;` and the URLs of the parts to join, separated by spaces.'),
    header('Upload-Defer-Length', '`1`: the size is sent later.'),
    header(
      'Upload-Metadata',
      'Pairs of a key and a value in base64: `filename`, `folder`, `tags`, `metadata`.',
    ),
    CHECKSUM,
  ],
  body: { [OFFSET_STREAM]: FILE_BYTES },
  isBodyOptional: true,
  responses: {
    201: {
      description: 'The upload was created. `Location` is its URL.',
      headers: CREATED_HEADERS,
    },
  },
  examples: [
    {
      id: 'create',
      summary: 'An upload of 11 bytes',
      parameters: { 'Tus-Resumable': TUS_VERSION, 'Upload-Length': '11' },
      status: 201,
    },
  ],
  problems: [...SECRET_PROBLEMS, '400 bad_path', ...STORED_PROBLEMS, ...TUS_PROBLEMS, ...TUS_BYTES_PROBLEMS],
  first: corsTus,
  handlerOf: createUpload,
}

const getOffset: ServedEndpoint<TusServices> = {
  route: 'HEAD /v1/tus/:id',
  id: 'getResumableUploadOffset',
  tag: 'Uploads',
  summary: 'Get the offset at which to resume an upload',
  access: { secret: 'upload' },
  parameters: [UPLOAD_ID, VERSION],
  responses: {
    204: {
      description: 'The state of the upload, in headers, for the protocol of the IETF.',
      headers: ['Tus-Resumable', 'Upload-Offset', 'Upload-Complete', 'Cache-Control'],
    },
    200: {
      description: 'The state of the upload, in headers.',
      headers: [
        'Tus-Resumable',
        'Upload-Offset',
        'Upload-Length',
        'Upload-Concat',
        'Upload-Defer-Length',
        'Upload-Metadata',
        'Upload-Expires',
        'Upload-Record',
        'Cache-Control',
      ],
    },
  },
  examples: [{ id: 'begun', summary: 'An upload in progress', parameters: UPLOAD, status: 200 }],
  problems: OF_UPLOAD,
  first: corsTus,
  handlerOf: exchangeOfUpload,
}

const getRecord: ServedEndpoint<TusServices> = {
  route: 'GET /v1/tus/:id',
  id: 'getResumableUpload',
  tag: 'Uploads',
  summary: 'Get the record of a completed resumable upload',
  access: { secret: 'upload' },
  parameters: [UPLOAD_ID],
  responses: {
    200: {
      description: 'The record of the stored file, in an array.',
      content: { 'application/json': { schema: fileRecords } },
      headers: ['Cache-Control'],
    },
    202: {
      description: 'The file is not stored yet.',
      content: { 'application/json': { schema: uploadProgress } },
      headers: ['Retry-After', 'Cache-Control'],
    },
  },
  examples: [
    {
      id: 'begun',
      summary: 'An upload in progress',
      parameters: { id: EXAMPLE.uploadId },
      status: 202,
    },
  ],
  problems: OF_UPLOAD,
  handlerOf: recordOf,
}

const appendBytes: ServedEndpoint<TusServices> = {
  route: 'PATCH /v1/tus/:id',
  id: 'appendToResumableUpload',
  tag: 'Uploads',
  summary: 'Append bytes to a resumable upload',
  description: 'The request that completes the upload stores the file. `Upload-Record` has its record.',
  access: { secret: 'upload' },
  parameters: [
    UPLOAD_ID,
    VERSION,
    header(
      'Upload-Offset',
      'Offset of the body in the file.',
      { type: 'integer', minimum: 0 },
      { required: true },
    ),
    length('Size of the file, if it was not known before.'),
    CHECKSUM,
  ],
  body: { [OFFSET_STREAM]: FILE_BYTES },
  responses: {
    204: {
      description: 'The bytes are stored.',
      headers: ['Tus-Resumable', 'Upload-Offset', 'Upload-Expires', 'Upload-Record', 'Cache-Control'],
    },
  },
  examples: [
    {
      id: 'first',
      summary: 'The first bytes',
      parameters: { ...UPLOAD, 'Upload-Offset': '0' },
      body: 'hello',
      status: 204,
    },
  ],
  problems: [
    ...SECRET_PROBLEMS,
    ...LINK_PROBLEMS,
    ...STORED_PROBLEMS,
    ...TUS_PROBLEMS,
    ...TUS_BYTES_PROBLEMS,
  ],
  handlerOf: exchangeOfUpload,
}

const deleteUpload: ServedEndpoint<TusServices> = {
  route: 'DELETE /v1/tus/:id',
  id: 'deleteResumableUpload',
  tag: 'Uploads',
  summary: 'Delete a resumable upload',
  access: { secret: 'upload' },
  parameters: [UPLOAD_ID, VERSION],
  responses: {
    204: { description: 'The upload was deleted.', headers: ['Tus-Resumable', 'Cache-Control'] },
  },
  examples: [{ id: 'begun', summary: 'An upload in progress', parameters: UPLOAD, status: 204 }],
  problems: [...SECRET_PROBLEMS, ...LINK_PROBLEMS, ...TUS_PROBLEMS, '409 upload_incomplete'],
  handlerOf: exchangeOfUpload,
}

/**
 * Resumable uploads with tus 1.0, and with the protocol of the IETF. Requests may name the upload by its URL alone, if a signed link has
 * created it.
 *
 * @see https://tus.io/protocols/resumable-upload
 */
export const RESUMABLE = [getSettings, createResumable, getOffset, getRecord, appendBytes, deleteUpload]
