import { METADATA_JSON, TAGS_JSON } from '../../../core/files/annotations.ts'
import { FOCAL_POINT_JSON } from '../../../core/geometry/focal-point.ts'
import { TRANSFORMS_JSON } from '../../upload/form-fields.ts'
import { fileRecords } from '../../wire/record.ts'
import type { Content, Endpoint } from '../endpoint.ts'
import { EXAMPLE } from '../examples.ts'
import { header, query } from '../parameters.ts'

/** The headers of the response that creates a resumable upload. */
export const CREATED_HEADERS = [
  'Location',
  'Tus-Resumable',
  'Cache-Control',
  'Upload-Offset',
  'Upload-Expires',
  'Upload-Record',
  'RateLimit',
  'RateLimit-Policy',
] as const

/** The bytes of a file. */
export const FILE_BYTES: Content = {
  json: { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' },
}

const file = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' }
const inForm = ({ description }: { description: string }, example: string) => ({
  type: 'string',
  description: `JSON. ${description}`,
  examples: [example],
})

/** A form with several files. */
export const FORM: Content = {
  json: {
    type: 'object',
    properties: {
      file: {
        type: 'array',
        items: file,
        minItems: 1,
        description: 'The files, each as a part named `file`.',
      },
      path: {
        type: 'string',
        description: 'Folder of the files, instead of `path` in the query. May follow the files.',
      },
      info: { type: 'string', enum: ['', '0', '1', 'true', 'false'], description: 'Adds file information.' },
      transforms: inForm(TRANSFORMS_JSON, '["w=300&f=webp"]'),
      tags: inForm(TAGS_JSON, '["holiday"]'),
      metadata: inForm(METADATA_JSON, '{"album": "Lisbon"}'),
      focalPoint: inForm(FOCAL_POINT_JSON, '{"x": 0.3, "y": 0.4}'),
    },
    required: ['file'],
  },
}

/** The query of a signed link. */
const LINK_QUERY = [
  query('expirationIn', 'Part of the link.', { type: 'integer', minimum: 1 }, { required: true }),
  query('name', 'Name of the file. It is not part of the link.'),
]

const LINK_PARAMETERS = {
  id: EXAMPLE.linkId,
  signature: EXAMPLE.linkSignature,
  folder: 'avatars',
  expirationIn: '3600',
}

/** Successful responses of uploads. */
export const RECORDS = {
  200: {
    description: 'The records of the stored files.',
    content: { 'application/json': { schema: fileRecords } },
    headers: ['Cache-Control', 'RateLimit', 'RateLimit-Policy'],
  },
} as const

/** Uploads by a signed link. */
export const LINKED_UPLOADS: readonly Endpoint[] = [
  {
    route: 'PUT /v1/upload/sign/:id/:signature/*folder',
    id: 'uploadFileByLink',
    tag: 'Uploads',
    summary: 'Upload one file by a signed link',
    description:
      'Only the link authorizes. Pages of any origin may use it. Append `&name=` to name the file. A form with one file is accepted as well.',
    access: 'link',
    parameters: [
      ...LINK_QUERY,
      header('Content-Disposition', 'Names the file: `attachment; filename="photo.jpg"`.'),
    ],
    body: { 'application/octet-stream': FILE_BYTES },
    responses: RECORDS,
    examples: [
      {
        id: 'photo',
        summary: 'A photo',
        parameters: LINK_PARAMETERS,
        body: 'photo.jpg',
        status: 200,
      },
    ],
  },
  {
    route: 'POST /v1/upload/sign/:id/:signature/*folder',
    id: 'uploadFormByLink',
    tag: 'Uploads',
    summary: 'Upload one file by a signed link, as a form',
    description:
      'The file itself is accepted as the body as well. With the header `Tus-Resumable` or `Upload-Complete`, it creates a resumable upload instead.',
    access: 'link',
    parameters: [
      ...LINK_QUERY,
      header('Tus-Resumable', '`1.0.0` for a resumable upload.'),
      header('Upload-Length', 'Size of the file in bytes, for a resumable upload.'),
      header('Upload-Metadata', 'Metadata of tus, for a resumable upload.'),
    ],
    body: { 'multipart/form-data': FORM },
    isBodyOptional: true,
    responses: {
      ...RECORDS,
      201: {
        description: 'The resumable upload was created.',
        headers: CREATED_HEADERS,
      },
    },
    examples: [
      {
        id: 'form',
        summary: 'A form with one file',
        parameters: LINK_PARAMETERS,
        body: { file: 'photo.jpg' },
        status: 200,
      },
    ],
  },
]
