import { z } from 'zod'
import { replyOf } from '../endpoint/named.ts'

const scalar = z.union([z.string(), z.number()])

/** A problem document. `code` is stable; further members depend on the code. */
export const problem = replyOf(
  'Problem',
  'A problem document (RFC 9457). Its further members depend on the code.',
  {
    type: z.string().describe('URN of the problem: `urn:sluice:problem:<code>`.'),
    title: z.string().describe('Reason phrase of the status.'),
    status: z.int().describe('HTTP status.'),
    detail: z.string().describe('Text for a person: the received value, and what is accepted.'),
    code: z.string().describe('Stable code. Clients may switch on it.'),
    instance: z.string().describe('ID of the request, as in `X-Request-Id` and the log.'),
    traceId: z.string().describe('ID of the trace, when the request belongs to one.').optional(),
    param: z.string().describe('Name of the invalid parameter or member.').optional(),
    expected: scalar.describe('What is accepted.').optional(),
    received: scalar.describe('The received value, truncated.').optional(),
    nearest: z.string().describe('The most similar valid name.').optional(),
    retryAfterSeconds: z.number().describe('When to retry, as in `Retry-After`.').optional(),
    limit: scalar.describe('The exceeded limit, or its name.').optional(),
    maxBytes: z.int().describe('The exceeded size limit.').optional(),
    job: z.string().describe('URL of the state of the job.').optional(),
    progress: z.number().describe('Progress of the job, from 0 to 1.').optional(),
    reason: z
      .string()
      .describe('Why a file or a bucket cannot be used, or `busy` when a shared limit is reached.')
      .optional(),
    size: z.int().describe('Size of the file in bytes.').optional(),
    transform: z.int().describe('Index of the invalid item of `transforms`.').optional(),
    format: z.string().describe('The format whose limit is exceeded.').optional(),
    maxSide: z.int().describe('Longest side of this format in pixels.').optional(),
    allowed: z.string().describe('What the operator allows.').optional(),
    step: z.string().describe('The step at which a bucket could not be used.').optional(),
    width: z.int().describe('Width of the refused image in pixels.').optional(),
    height: z.int().describe('Height of the refused image in pixels.').optional(),
    minBytesPerSecond: z.int().describe('Minimum rate of a request body.').optional(),
    maxWaiting: z.int().describe('Maximum number of waiting requests of a connection.').optional(),
    maxRatio: z.int().describe('Maximum ratio of decompressed to compressed bytes.').optional(),
    remoteStatus: z.int().describe('Status of the response of the other server.').optional(),
  },
)
