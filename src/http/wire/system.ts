import { z } from 'zod'
import { MEDIA_GROUPS } from '../../core/media/groups.ts'
import { named } from '../endpoint/named.ts'

/** The response while the process runs. */
export const health = named('Health', z.object({ status: z.literal('ok') }).describe('The process runs.'))

const outcome = z.enum(['ok', 'unavailable'])

/** Whether the service can serve requests. */
export const readiness = named(
  'Readiness',
  z
    .object({
      status: z
        .enum(['ok', 'degraded', 'unavailable', 'stopping'])
        .describe('`degraded`: stored files are delivered, but not all requests work.'),
      version: z.string().describe('Version of Sluice.'),
      checks: z.object({
        bucket: outcome,
        index: outcome,
        ffmpeg: z.enum(['ok', 'missing']),
        disk: z.enum(['ok', 'full', 'read_only', 'unavailable']).optional(),
        fonts: z.enum(['ok', 'missing']).optional(),
      }),
      comparison: z
        .object({ files: z.int().describe('Files and derivatives that were compared.') })
        .describe('The comparison of the index with all files, while it runs: lists may be incomplete.')
        .optional(),
      scriptsWithoutFont: z
        .array(z.string())
        .describe(
          'Scripts that no font of the machine has: their characters are drawn as boxes. Absent when every script has a font.',
        )
        .optional(),
    })
    .describe('The result of each check.'),
)

/** The state of the installation, for its operator. */
export const systemReport = named(
  'SystemReport',
  z
    .object({
      ...readiness.shape,
      nodeVersion: z.string().describe('Version of Node.js.'),
      uptimeSeconds: z.int().describe('How long the process that has responded runs, in seconds.'),
      storage: z.object({
        files: z.enum(['disk', 's3']).describe('Where files are stored.'),
        state: z.enum(['embedded', 'redis']).describe('Where index, jobs and counters are stored.'),
      }),
      plugins: z.array(
        z.object({
          name: z.string(),
          kind: z.enum(['transform', 'event', 'detector']),
          types: z.array(z.enum(MEDIA_GROUPS)).describe('Types of files, of a transformation.').optional(),
        }),
      ),
      settings: z
        .array(
          z.object({
            name: z.string().describe('Name of the environment variable.'),
            value: z.union([z.number(), z.string(), z.array(z.string())]),
            help: z.string().describe('Effect of the variable.'),
          }),
        )
        .describe('The values of all variables that have one, except secrets.'),
    })
    .describe('The state of the installation.'),
)

const number = z.number()
const bound = z.union([number, z.array(number)])

/** A parameter of delivery URLs, with its bounds. */
const deliveryParameter = named(
  'DeliveryParameter',
  z
    .object({
      plugin: z.string().describe('Name of the plugin.'),
      name: z.string().describe('Name of the parameter.'),
      aliases: z.array(z.string()).describe('Other names of the parameter.'),
      type: z.enum(['integer', 'number', 'enum', 'flag', 'text', 'key', 'list', 'color']),
      help: z.string().describe('Effect of the parameter.'),
      expected: z.string().describe('Accepted values, as error messages name them.'),
      min: bound.describe('Minimum, inclusive; of a list for each number.').optional(),
      max: bound.describe('Maximum, inclusive; of a list for each number.').optional(),
      unit: z.string().optional(),
      default: z.union([z.string(), number]).optional(),
      bare: number.describe('Value when the query has the name alone.').optional(),
      auto: z
        .enum(['dpr', 'width'])
        .optional()
        .describe(
          'What the value `auto` depends on: it becomes a number by the client hints of the request.',
        ),
      values: z.array(z.string()).optional(),
      words: z.array(z.string()).optional().describe('Further values of a flag.'),
      synonyms: z.record(z.string(), z.string()).optional(),
      maxLength: z.int().optional(),
      lines: z.boolean().describe('Whether the text may have line breaks.').optional(),
      group: z.enum(MEDIA_GROUPS).optional(),
      of: z.enum(['integer', 'number']).optional(),
      names: z.array(z.string()).optional(),
      separator: z.enum([',', ':']).optional(),
      atLeast: z.int().optional(),
      groups: z.int().describe('Maximum count of groups of these numbers, separated by ";".').optional(),
    })
    .describe('A parameter of delivery URLs.'),
)

/** The parameters of delivery URLs, by type. */
export const parameterLists = named(
  'ParameterLists',
  z
    .object({
      image: z.array(deliveryParameter),
      video: z.array(deliveryParameter),
      audio: z.array(deliveryParameter),
      text: z.array(deliveryParameter),
      application: z.array(deliveryParameter),
    })
    .describe('The parameters of delivery URLs, by the type of the file.'),
)

const scalar = z.union([z.string(), z.number()])

/** A problem document. `code` is stable; further members depend on the code. */
export const problem = named(
  'Problem',
  z
    .object({
      type: z.string().describe('URN of the problem: `urn:sluice:problem:<code>`.'),
      title: z.string().describe('Reason phrase of the status.'),
      status: z.int().describe('HTTP status.'),
      detail: z.string().describe('Text for a person: the received value, and what is accepted.'),
      code: z.string().describe('Stable code. Clients may switch on it.'),
      instance: z.string().describe('ID of the request, as in `X-Request-Id` and the log.'),
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
    })
    .describe('A problem document (RFC 9457). Its further members depend on the code.'),
)

export type Health = z.input<typeof health>
export type SystemReport = z.input<typeof systemReport>
export type Readiness = z.input<typeof readiness>
