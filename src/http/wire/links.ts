import { z } from 'zod'
import { instant } from './record.ts'

/** A signed upload link. */
export const uploadLink = z
  .object({
    url: z.string().describe('URL to which a file can be uploaded without a secret.'),
    method: z.literal('PUT').describe('Method for the file as the body. POST works for a form.'),
    expiresAt: instant('When the link expires.'),
  })
  .describe('A signed upload link.')

/** A link to an archive. */
export const archiveLink = z
  .object({
    url: z.string().describe('URL of the archive, which needs no secret.'),
    expiresAt: instant('When the link expires.'),
  })
  .describe('A link to an archive.')

/** A signed delivery URL. */
export const signedUrl = z
  .object({
    url: z.string().describe('Signed delivery URL.'),
    expiresAt: instant('When the URL expires. Absent: it never expires.').optional(),
  })
  .describe('A signed delivery URL.')

/** The outcome for each URL of a batch. */
export const signedUrls = z
  .object({
    results: z.array(
      z.union([
        signedUrl.extend({ status: z.literal('signed') }),
        z.object({
          status: z.literal('error'),
          code: z.string().describe('Code of the problem.'),
          detail: z.string().describe('Text for a person.'),
        }),
      ]),
    ),
  })
  .describe('The outcome for each URL, in the order of the request.')

/** The response to one URL, or to several. */
export const urlSignatures = z.union([signedUrl, signedUrls]).describe('One signed URL, or several outcomes.')

/** A resumable upload that is not stored yet. */
export const uploadProgress = z
  .object({
    state: z
      .enum(['receiving', 'storing'])
      .describe('Whether bytes are missing, or the file is being stored.'),
    offset: z.int().describe('Number of received bytes.'),
    size: z.int().nullable().describe('Size of the file in bytes; null while it is not known.'),
  })
  .describe('The state of a resumable upload that is not stored yet.')

const failure = z
  .object({
    status: z.int().describe('HTTP status of the problem.'),
    code: z.string().describe('Code of the problem.'),
    detail: z.string().describe('Text for a person.'),
    members: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .readonly()
      .describe('Further members.')
      .optional(),
  })
  .describe('Why a job has failed.')

/** The state of a media job. */
export const mediaJob = z
  .object({
    state: z.enum(['waiting', 'running', 'done', 'failed']).describe('State of the job.'),
    progress: z.number().min(0).max(1).describe('Progress of the running attempt; 1 when the job is done.'),
    url: z.string().describe('URL of the derivative, as soon as it can be played or downloaded.').optional(),
    error: failure.optional(),
  })
  .describe('The state of a media job.')

export type UploadLink = z.input<typeof uploadLink>
export type SignedUrl = z.input<typeof signedUrl>
export type SignedUrls = z.input<typeof signedUrls>
export type UploadProgress = z.input<typeof uploadProgress>
export type WireJob = z.input<typeof mediaJob>
