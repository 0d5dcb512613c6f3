import { z } from 'zod'
import { mediaJob } from '../links.ts'
import { instant } from '../record.ts'

/** A media job, as lists have it. */
export const listedJob = z
  .object({
    id: z.string().describe('ID of the job.'),
    url: z.string().describe('Delivery URL of the derivative, without a signature.'),
    state: z.enum(['waiting', 'active', 'failed', 'done']).describe('State of the job.'),
    progress: mediaJob.shape.progress,
    file: z.string().describe('Key of the original.'),
    attempts: z.int().describe('Number of attempts that have begun.'),
    error: mediaJob.shape.error,
    createdAt: instant('When the job was requested.'),
    endedAt: instant('When it was done or failed. Absent for a job that waits or is active.').optional(),
  })
  .describe('A media job. It renders a video, an audio file, or the PDF of an Office document.')

/** A page of a client's media jobs. */
export const jobList = z
  .object({
    jobs: z.array(listedJob),
    next: z.string().describe('Cursor of the next page; absent on the last page.').optional(),
  })
  .describe('A page of a list of jobs.')

export type ListedJob = z.input<typeof listedJob>
export type JobList = z.input<typeof jobList>
