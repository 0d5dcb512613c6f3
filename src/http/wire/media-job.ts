import { z } from 'zod'
import { replyOf } from '../endpoint/named.ts'

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
export const mediaJob = replyOf('MediaJob', 'The state of a media job.', {
  state: z.enum(['waiting', 'running', 'done', 'failed']).describe('State of the job.'),
  progress: z.number().min(0).max(1).describe('Progress of the running attempt; 1 when the job is done.'),
  url: z.string().describe('URL of the derivative, as soon as it can be played or downloaded.').optional(),
  error: failure.optional(),
})

export type WireJob = z.input<typeof mediaJob>
