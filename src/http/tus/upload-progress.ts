import { z } from 'zod'
import { replyOf } from '../endpoint/named.ts'

/** A resumable upload that is not stored yet. */
export const uploadProgress = replyOf(
  'UploadProgress',
  'The state of a resumable upload that is not stored yet.',
  {
    state: z
      .enum(['receiving', 'storing'])
      .describe('Whether bytes are missing, or the file is being stored.'),
    offset: z.int().describe('Number of received bytes.'),
    size: z.int().nullable().describe('Size of the file in bytes; null while it is not known.'),
  },
)

export type UploadProgress = z.input<typeof uploadProgress>
