import { z } from 'zod'
import { named } from '../endpoint/named.ts'

/** A resumable upload that is not stored yet. */
export const uploadProgress = named(
  'UploadProgress',
  z
    .object({
      state: z
        .enum(['receiving', 'storing'])
        .describe('Whether bytes are missing, or the file is being stored.'),
      offset: z.int().describe('Number of received bytes.'),
      size: z.int().nullable().describe('Size of the file in bytes; null while it is not known.'),
    })
    .describe('The state of a resumable upload that is not stored yet.'),
)

export type UploadProgress = z.input<typeof uploadProgress>
