import { z } from 'zod'
import {
  type Annotations,
  checkMetadata,
  checkTags,
  METADATA_JSON,
  TAGS_JSON,
} from '../../../core/files/annotations.ts'
import { NAME_MAX_BYTES } from '../../../core/files/file-name.ts'
import { checkFocalPoint, FOCAL_POINT_JSON } from '../../../core/geometry/focal-point.ts'
import { badParameter } from '../../../core/problem.ts'
import type { BegunDirectUpload, NewDirectUpload } from '../../../service/upload/direct/direct-uploads.ts'
import { bodyOf, replyOf } from '../../endpoint/named.ts'
import { instant, iso } from '../../wire/instant.ts'
import { refuseInLink } from '../link-fields.ts'

const EXPECTED_NAME = `a file name of 1 to ${NAME_MAX_BYTES} bytes`
const EXPECTED_SIZE = 'a number of bytes from 1'
const EXPECTED_SHA256 = '64 hexadecimal digits'

/** A request to begin a direct upload. */
export const newDirectUpload = bodyOf('NewDirectUpload', {
  name: z
    .string(EXPECTED_NAME)
    .min(1, EXPECTED_NAME)
    .max(NAME_MAX_BYTES, EXPECTED_NAME)
    .refine((name) => Buffer.byteLength(name) <= NAME_MAX_BYTES, EXPECTED_NAME)
    .describe('Name of the file.'),
  size: z.int(EXPECTED_SIZE).min(1, EXPECTED_SIZE).describe('Size of the file in bytes.'),
  type: z
    .string('a media type')
    .describe(
      'Expected media type, such as `image/png`. A type that is not accepted is refused now. The bytes decide when the upload is complete.',
    )
    .optional(),
  folder: z.string('a folder').describe('Folder of the file.').optional(),
  sha256: z
    .string(EXPECTED_SHA256)
    .regex(/^[0-9a-fA-F]{64}$/, EXPECTED_SHA256)
    .describe('SHA-256 of the file, in hexadecimal. Other bytes are refused.')
    .optional(),
  link: z.string('a signed upload link').describe('Signed upload link, in place of the secret.').optional(),
  automatic: z
    .boolean('true or false')
    .describe(
      'Whether a program has chosen a direct upload by itself, and would send the file to Sluice otherwise. Refused where clients are not expected to reach the bucket.',
    )
    .optional(),
  tags: z.unknown().meta(TAGS_JSON).optional(),
  metadata: z.unknown().meta(METADATA_JSON).optional(),
  focalPoint: z.unknown().meta(FOCAL_POINT_JSON).optional(),
})

/** A direct upload that has begun. */
export const directUpload = replyOf(
  'DirectUpload',
  'A direct upload, with the requests that send its bytes to the bucket.',
  {
    id: z.string().describe('ID of the upload.'),
    url: z
      .string()
      .describe(
        'URL of the upload: `GET <url>` returns what is missing, `POST <url>/complete` stores the file, `DELETE <url>` aborts the upload.',
      ),
    state: z
      .enum(['receiving', 'storing', 'stored'])
      .describe(
        '`receiving`: send the `requests`, then `POST <url>/complete`. `storing`: the file is being stored. `stored`: `POST <url>/complete` returns its record.',
      ),
    expiresAt: instant('When the URLs of the requests expire, or without requests the upload itself.'),
    requests: z
      .array(
        z.object({
          method: z.literal('PUT'),
          url: z.string().describe('Signed URL of the bucket.'),
          headers: z
            .record(z.string(), z.string())
            .describe('Headers that the request must have, besides `Content-Length`.'),
          start: z.int().describe('Offset of the first byte of the body in the file.'),
          size: z.int().describe('Number of bytes in the body. The bucket refuses another number.'),
        }),
      )
      .describe(
        'The requests that send the missing bytes to the bucket, in any order: one, or up to 200 for a large file. Empty when nothing is missing.',
      ),
    missingBytes: z
      .int()
      .describe(
        'Number of bytes that the bucket has not received. When the `requests` have fewer bytes, send these, and get the next requests with `GET <url>`.',
      ),
  },
)

const LINK_PATH = '/v1/upload/sign/'

/** Checks the values of a request to begin a direct upload. @throws Problem 400 */
export function checkedDirectUpload({
  link: url,
  tags,
  metadata,
  focalPoint,
  folder,
  ...upload
}: z.output<typeof newDirectUpload>): NewDirectUpload {
  const link = url === undefined ? undefined : targetOf(url)
  if (link !== undefined)
    for (const [param, value] of Object.entries({ tags, metadata, focalPoint }))
      if (value !== undefined) refuseInLink(param, JSON.stringify(value))
  const annotations: Annotations = {
    tags: tags === undefined ? [] : checkTags(tags),
    metadata: metadata === undefined ? {} : checkMetadata(metadata),
    ...(focalPoint === undefined ? {} : { focalPoint: checkFocalPoint(focalPoint) }),
  }
  return { ...upload, folder, link, ...(link === undefined ? { annotations } : {}) }
}

/** The path and query of a link. The service may be below a path of its host. */
function targetOf(link: string): string {
  const at = link.indexOf(LINK_PATH)
  if (at >= 0) return link.slice(at)
  throw badParameter({ param: 'link', expected: 'a signed upload link', received: link })
}

/** @param url of the upload */
export function directUploadToWire(
  { id, state, until, puts, missingBytes }: BegunDirectUpload,
  url: string,
): z.input<typeof directUpload> {
  return {
    id,
    url,
    state,
    expiresAt: iso(until),
    requests: puts.map((put) => ({ method: 'PUT', ...put })),
    missingBytes,
  }
}
