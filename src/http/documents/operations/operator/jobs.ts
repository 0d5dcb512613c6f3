import { jobList, listedJob } from '../../../wire/operator/jobs.ts'
import type { Endpoint } from '../../endpoint.ts'
import { EXAMPLE } from '../../examples.ts'
import { pageParameters, query } from '../../parameters.ts'

const JOB = { id: EXAMPLE.jobId }

/** The media jobs of a client. */
export const JOBS: readonly Endpoint[] = [
  {
    route: 'GET /v1/jobs',
    id: 'listJobs',
    tag: 'Delivery',
    summary: 'List the media jobs of the client, the newest first',
    description: 'Jobs that are done are listed for ten minutes, failed ones for seven days.',
    access: 'secret',
    parameters: [
      query('state', 'Only jobs in this state.', {
        type: 'string',
        enum: ['waiting', 'active', 'failed', 'done'],
      }),
      ...pageParameters('jobs'),
    ],
    responses: {
      200: {
        description: 'A page of the list.',
        content: { 'application/json': { schema: jobList } },
        headers: ['Cache-Control'],
      },
    },
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
  },
  {
    route: 'POST /v1/jobs/:id/retry',
    id: 'retryJob',
    tag: 'Delivery',
    summary: 'Begin a failed job again',
    access: 'secret',
    responses: {
      200: {
        description: 'The job.',
        content: { 'application/json': { schema: listedJob } },
        headers: ['Cache-Control'],
      },
    },
    examples: [{ id: 'notFailed', summary: 'A job that has not failed', parameters: JOB, status: 409 }],
  },
  {
    route: 'DELETE /v1/jobs/:id',
    id: 'cancelJob',
    tag: 'Delivery',
    summary: 'Cancel a job',
    description:
      'A failed job, or one that is done, is removed from the list. The next request for the URL of the derivative begins the job again.',
    access: 'secret',
    responses: { 204: { description: 'The job is cancelled. An active one ends within seconds.' } },
    examples: [{ id: 'cancel', summary: 'Cancel a job', parameters: JOB, status: 204 }],
  },
]
