import { z } from 'zod'
import { MEDIA_GROUPS } from '../../core/media/groups.ts'
import { named, replyOf } from '../endpoint/named.ts'
import { fileInformation } from './information.ts'
import { instant } from './instant.ts'

const group = z.enum(MEDIA_GROUPS).describe('Type of the file in URLs.')

/** A derivative that an upload has requested in advance. */
const requestedDerivative = z
  .object({
    key: z.string().describe('Key of the derivative.'),
    src: z.string().describe('Delivery URL of the derivative.'),
    state: z.enum(['waiting', 'running', 'done', 'failed']).describe('State of the job that renders it.'),
  })
  .describe('A derivative that the upload has requested.')

/** Members that the record of an upload and the details of a file have in common. */
const common = {
  sourceName: z.string().describe('Name of the file in the bucket: a random ID and the usual extension.'),
  src: z.string().describe('Delivery URL. Append parameters as a query string, unless it is signed.'),
  srcExpires: instant('When the signature of `src` expires. Absent when `src` is not signed.').optional(),
  originalSrc: z.string().describe('URL of the stored object itself, without transformations.'),
  originalName: z.string().describe('Name of the uploaded file, without folders.'),
  s3PathOriginal: z
    .string()
    .describe('Key of the original in the bucket: `[folder/]<mimeType>/<format>/<sourceName>`.'),
  s3Path: z.string().describe('Key of the file that `src` delivers: the same value as `s3PathOriginal`.'),
  size: z.int().describe('Size in bytes.'),
  mimeType: group,
  format: z.string().describe('Short name of the format, detected from the bytes: `jpeg`, `mp4`, `pdf`.'),
  scan: z
    .object({
      state: z
        .enum(['waiting', 'clean', 'infected'])
        .describe('`waiting`: the scan has not ended. Only a `clean` file is delivered.'),
      signature: z.string().describe('Name of the malware in an `infected` file.').optional(),
    })
    .describe('The malware scan. Absent for a file that was stored without a scanner.')
    .optional(),
}

/** The record that an upload returns for each stored file. */
const fileRecord = replyOf('FileRecord', 'The record of a stored file.', {
  ...common,
  options: z
    .object({
      info: fileInformation.optional(),
      transforms: z.array(requestedDerivative).optional(),
    })
    .describe('Results of the fields `info` and `transforms` of the upload; otherwise an empty object.'),
})

export type FileRecord = z.input<typeof fileRecord>

export const fileRecords = named(
  'FileRecords',
  z.array(fileRecord).describe('A record for each file, in the order of the request.'),
)

/** A file in a list: its record, and all other stored properties. */
export const file = replyOf('File', 'A stored file.', {
  ...common,
  options: z.object({}).describe('Always an empty object.'),
  mediaType: z.string().describe('Media type of responses that deliver the file.'),
  sha256: z.string().describe('SHA-256 of the bytes, in hexadecimal digits.'),
  uploadedAt: instant('When the file was stored.'),
  tags: z.array(z.string()).readonly().describe('Tags that the client has set.'),
  metadata: z.record(z.string(), z.string()).readonly().describe('Metadata that the client has set.'),
  focalPoint: z
    .object({ x: z.number(), y: z.number() })
    .describe('Default focus of crops, as fractions of the sides. Absent when it is not set.')
    .optional(),
  deletedAt: instant('When the file was deleted. Absent for a file that is not deleted.').optional(),
  deletedUntil: instant('Until when the file can be restored.').optional(),
})

export type ListedFile = z.input<typeof file>
