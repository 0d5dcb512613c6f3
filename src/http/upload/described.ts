import { METADATA_JSON, TAGS_JSON } from '../../core/files/annotations.ts'
import { FOCAL_POINT_JSON } from '../../core/geometry/focal-point.ts'
import { FILE_BYTES } from '../documents/contents.ts'
import type { Content, ProblemName } from '../documents/endpoint.ts'
import { FLAG } from '../documents/parameters.ts'
import { fileRecords } from '../wire/record.ts'
import { TRANSFORMS_JSON } from './form-fields.ts'

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
        items: FILE_BYTES.json,
        minItems: 1,
        description: 'The files, each as a part named `file`.',
      },
      path: {
        type: 'string',
        description: 'Folder of the files, instead of `path` in the query. May follow the files.',
      },
      info: { ...FLAG, description: 'Adds file information.' },
      transforms: inForm(TRANSFORMS_JSON, '["w=300&f=webp"]'),
      tags: inForm(TAGS_JSON, '["holiday"]'),
      metadata: inForm(METADATA_JSON, '{"album": "Lisbon"}'),
      focalPoint: inForm(FOCAL_POINT_JSON, '{"x": 0.3, "y": 0.4}'),
    },
    required: ['file'],
  },
}

/** Successful responses of uploads. */
export const RECORDS = {
  200: {
    description: 'The records of the stored files.',
    content: { 'application/json': { schema: fileRecords } },
    headers: ['Cache-Control', 'RateLimit', 'RateLimit-Policy'],
  },
} as const

/** The problems of a file that is stored. */
export const STORED_PROBLEMS: readonly ProblemName[] = [
  '413 too_large',
  '415 type_not_allowed',
  '422 image_size_not_allowed',
  '422 file_not_decodable',
  '429 rate_limited',
  '501 not_installed',
  '503 storage_full',
]
/** The problems of a form. */
export const FORM_PROBLEMS: readonly ProblemName[] = [
  '400 bad_multipart',
  '400 bad_parameter',
  '400 bad_json',
]
/** The problems of a signed link. */
export const LINK_PROBLEMS: readonly ProblemName[] = [
  '403 link_invalid',
  '403 link_expired',
  '409 link_used',
  '409 link_busy',
  '415 type_not_allowed',
]
