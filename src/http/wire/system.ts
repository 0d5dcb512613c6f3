import { z } from 'zod'
import { MEDIA_GROUPS } from '../../core/media/groups.ts'
import { replyOf } from '../endpoint/named.ts'

/** The response while the process runs. */
export const health = replyOf('Health', 'The process runs.', { status: z.literal('ok') })

const outcome = z.enum(['ok', 'unavailable'])

/** Whether the service can serve requests. */
export const readiness = replyOf('Readiness', 'The result of each check.', {
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
    .object({
      files: z.int().describe('Files that were compared.'),
      total: z
        .int()
        .describe('About how many files there are. Absent while lists or counters are incomplete.')
        .optional(),
    })
    .describe('The comparison of the index with all files, while it runs: lists may be incomplete.')
    .optional(),
  scriptsWithoutFont: z
    .array(z.string())
    .describe(
      'Scripts that no font of the machine has: their characters are drawn as boxes. Absent when every script has a font.',
    )
    .optional(),
})

/** The state of the installation, for its operator. */
export const systemReport = replyOf('SystemReport', 'The state of the installation.', {
  ...readiness.shape,
  nodeVersion: z.string().describe('Version of Node.js.'),
  uptimeSeconds: z.int().describe('How long the process that has responded runs, in seconds.'),
  storage: z.object({
    files: z.enum(['disk', 's3']).describe('Where files are stored.'),
    directUploads: z.boolean().describe('Whether clients may upload straight into the bucket.'),
    state: z.enum(['embedded', 'redis']).describe('Where index, jobs and counters are stored.'),
  }),
  plugins: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(['transform', 'event', 'detector', 'scanner']),
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

export type Readiness = z.input<typeof readiness>
