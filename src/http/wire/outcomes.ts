import { z } from 'zod'
import { instant } from './record.ts'

/** The outcome for a file that could not be changed. */
export const failed = z
  .object({
    path: z.string().describe('As received.'),
    status: z.literal('error'),
    code: z.string().describe('Code of the problem.'),
    detail: z.string().describe('Text for a person.'),
  })
  .describe('A file that could not be changed.')

/** The response to a batch delete. */
export const deletionReport = z
  .object({
    results: z.array(
      z.union([
        z.object({
          path: z.string().describe('As received, or the key of a file of the folder.'),
          status: z.literal('deleted'),
          deletedUntil: instant('Until when the file can be restored.').optional(),
        }),
        failed,
      ]),
    ),
    more: z.boolean().describe('Whether the folder has further files: repeat the request.'),
  })
  .describe('The outcome for each file.')

/** The response to a batch restore. */
export const restorationReport = z
  .object({
    results: z.array(
      z.union([
        z.object({ path: z.string().describe('As received.'), status: z.literal('restored') }),
        failed,
      ]),
    ),
  })
  .describe('The outcome for each file.')

/** The response to the deletion of one file. */
export const deletedFile = z
  .object({
    s3PathOriginal: z.string().describe('Key of the deleted file.'),
    derivatives: z.int().describe('Number of deleted derivatives.'),
    deletedUntil: instant('Until when the file can be restored. Only with soft delete.').optional(),
  })
  .describe('The deleted file.')

/** The response to the deletion of derivatives. */
export const deletedDerivatives = z
  .object({
    s3PathOriginal: z.string().describe('Key of the original, which is not deleted.'),
    derivatives: z.int().describe('Number of deleted derivatives.'),
    bytes: z.int().describe('Their size in bytes.'),
  })
  .describe('The deleted derivatives.')

export type DeletionReport = z.input<typeof deletionReport>
export type RestorationReport = z.input<typeof restorationReport>
export type DeletedFile = z.input<typeof deletedFile>
export type DeletedDerivatives = z.input<typeof deletedDerivatives>
