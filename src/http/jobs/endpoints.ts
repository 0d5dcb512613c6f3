import { z } from 'zod'
import type { Client } from '../../core/clients/client.ts'
import { type ObjectKey, parseKey } from '../../core/files/object-key.ts'
import type { JobStatus } from '../../core/ports/jobs.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import type { ClientJob, ClientJobQuery, ClientJobs } from '../../service/delivery/client-jobs.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { replyOf } from '../endpoint/named.ts'
import { oneOf, pageOf } from '../endpoint/query.ts'
import { instant, iso } from '../wire/instant.ts'
import { mediaJob } from '../wire/media-job.ts'
import { derivativeUrl } from '../wire/urls.ts'

/** The services that handle these requests. */
export interface Services {
  clientJobs: ClientJobs
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}

// The state of a job in lists, by its state in the queue.
const SHOWN_STATES = { waiting: 'waiting', running: 'active', failed: 'failed', done: 'done' } as const
const STATES = Object.values(SHOWN_STATES)

const listedJob = replyOf(
  'ListedJob',
  'A media job. It renders a video, an audio file, or the PDF of an Office document.',
  {
    id: z.string().describe('ID of the job.'),
    url: z.string().describe('Delivery URL of the derivative, without a signature.'),
    state: z.enum(STATES).describe('State of the job.'),
    progress: mediaJob.shape.progress,
    file: z.string().describe('Key of the original.'),
    attempts: z.int().describe('Number of attempts that have begun.'),
    error: mediaJob.shape.error,
    createdAt: instant('When the job was requested.'),
    endedAt: instant('When it was done or failed. Absent for a job that waits or is active.').optional(),
  },
)
const jobList = replyOf('JobList', 'A page of a list of jobs.', {
  jobs: z.array(listedJob),
  next: z.string().describe('Cursor of the next page; absent on the last page.').optional(),
})
const JOB = { id: EXAMPLE.jobId }

const listJobs = endpoint({
  route: 'GET /v1/jobs',
  id: 'listJobs',
  tag: 'Delivery',
  summary: 'List the media jobs of the client, the newest first',
  description: 'Jobs that are done are listed for ten minutes, failed ones for seven days.',
  // The jobs of all folders share one queue.
  access: { secret: 'read', everywhere: true },
  query: { state: oneOf(STATES, 'Only jobs in this state.'), ...pageOf('jobs') },
  responses: { 200: json(jobList, 'A page of the list.') },
  examples: [
    {
      id: 'failed',
      summary: 'Failed jobs of a client without any',
      parameters: { state: 'failed' },
      status: 200,
      response: { jobs: [] },
    },
    { id: 'all', summary: 'All jobs', status: 200 },
  ],

  async handle({ clientJobs, baseUrl }: Services, { caller: { client }, query }) {
    const state = Object.entries(SHOWN_STATES).find(([, shown]) => shown === query.state)?.[0]
    // One more shows whether there is a further page.
    const found = await clientJobs.list(client, {
      state: state as JobStatus['state'] | undefined,
      after: positionIn(query.cursor),
      limit: query.limit + 1,
    })
    const jobs = found.slice(0, query.limit)
    const last = found.length > jobs.length ? jobs.at(-1) : undefined
    const page: z.input<typeof jobList> = {
      jobs: jobs.map((job) => jobToWire(job, { client, baseUrl })),
      ...(last ? { next: cursorAfter(last) } : {}),
    }
    return { json: page }
  },
})

const retryJob = endpoint({
  route: 'POST /v1/jobs/:id/retry',
  // The URL of a derivative may have this form.
  passesOn: true,
  id: 'retryJob',
  tag: 'Delivery',
  summary: 'Begin a failed job again',
  access: { secret: 'manage', everywhere: true },
  responses: { 200: json(listedJob, 'The job.') },
  problems: [
    '404 file_not_found',
    '404 job_not_found',
    '409 job_not_failed',
    '409 job_outdated',
    '429 too_many_jobs',
    '429 variant_limit',
    '501 not_installed',
    '503 storage_full',
  ],
  audit: 'job.retry',
  examples: [{ id: 'notFailed', summary: 'A job that has not failed', parameters: JOB, status: 409 }],

  async handle({ clientJobs, baseUrl }: Services, { caller: { client }, params: { id = '' } }) {
    return { json: jobToWire(await clientJobs.retry(client, keyOfJob(id)), { client, baseUrl }) }
  },
})

const cancelJob = endpoint({
  route: 'DELETE /v1/jobs/:id',
  id: 'cancelJob',
  tag: 'Delivery',
  summary: 'Cancel a job',
  description:
    'A failed job, or one that is done, is removed from the list. The next request for the URL of the derivative begins the job again.',
  access: { secret: 'manage', everywhere: true },
  responses: { 204: { description: 'The job is cancelled. An active one ends within seconds.' } },
  problems: ['404 job_not_found'],
  audit: 'job.cancel',
  examples: [{ id: 'cancel', summary: 'Cancel a job', parameters: JOB, status: 204 }],

  async handle({ clientJobs }: Services, { caller: { client }, params: { id = '' } }) {
    await clientJobs.cancel(client, keyOfJob(id))
    return {}
  },
})

/** The media jobs of a client. */
export const JOBS = [listJobs, retryJob, cancelJob]

function jobToWire(
  { key, original, status, createdAt, endedAt }: ClientJob,
  { client: { token }, baseUrl }: { client: Client; baseUrl: string },
): z.input<typeof listedJob> {
  const { group } = original.format
  return {
    id: jobIdOf(key),
    url: derivativeUrl(key, { baseUrl, token, group }),
    state: SHOWN_STATES[status.state],
    progress: status.progress,
    file: original.key,
    attempts: status.attempts,
    ...(status.state === 'failed' ? { error: status.failure } : {}),
    createdAt: iso(createdAt),
    ...(endedAt === undefined ? {} : { endedAt: iso(endedAt) }),
  }
}

/** The cursor of the page after this job. It contains nothing that the job does not. */
function cursorAfter({ createdAt, key }: ClientJob): string {
  return Buffer.from(`${createdAt} ${key}`).toString('base64url')
}

function positionIn(cursor: string | undefined): ClientJobQuery['after'] {
  if (cursor === undefined) return undefined
  const [, createdAt, key = ''] = /^(\d{1,15}) (.+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (parseKey(key)) return { createdAt: Number(createdAt), key: key as ObjectKey }
  throw badParameter({ param: 'cursor', expected: 'a cursor of an earlier response', received: cursor })
}

/** The ID of a job in paths: the key of its derivative has slashes. */
function jobIdOf(key: ObjectKey): string {
  return Buffer.from(key).toString('base64url')
}

/** The key that an ID names. @throws Problem 404 for another text */
function keyOfJob(id: string): ObjectKey {
  const key = Buffer.from(id, 'base64url').toString()
  if (parseKey(key)?.variant !== undefined) return key as ObjectKey
  throw new Problem({ status: 404, code: 'job_not_found', detail: 'The client has no such job.' })
}
