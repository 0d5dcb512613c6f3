import { z } from 'zod'
import type { Client } from '../../core/clients/client.ts'
import { USAGE_NAMES, USAGE_RETENTION_DAYS } from '../../core/ports/usage.ts'
import { badParameter } from '../../core/problem.ts'
import { type Day, dayOf, daysBefore, daysBetween } from '../../core/text/day.ts'
import type { Period, Usage } from '../../service/files/usage.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { replyOf } from '../endpoint/named.ts'
import { day } from '../endpoint/query.ts'

/** The services that handle these requests. */
export interface Services {
  usage: Usage
  listClients: () => readonly Client[]
}

const DEFAULT_DAYS = 30
// One row of 100 bytes each, and one read of the store. One day is always permitted.
const ROWS_MAX = 50_000

const count = z.int().describe('A number of events, or of bytes.')
const usageReport = replyOf('UsageReport', 'Stored files and usage of a client.', {
  files: z.int().describe('Number of stored originals.'),
  storedBytes: z.int().describe('Their size in bytes.'),
  deletedFiles: z.int().describe('Number of deleted files that can be restored.'),
  deletedBytes: z.int().describe('Their size in bytes.'),
  days: z.array(
    z.object({
      day: z.iso.date().describe('Day in UTC.'),
      ...(Object.fromEntries(USAGE_NAMES.map((name) => [name, count])) as Record<
        (typeof USAGE_NAMES)[number],
        typeof count
      >),
    }),
  ),
})
const clientUsageReport = replyOf('ClientUsageReport', 'The usage of all clients per day.', {
  days: z
    .array(
      z.object({
        day: z.iso.date().describe('Day in UTC.'),
        client: z.string().describe('ID of the client.'),
        storedBytes: z.int().describe('Size of its stored files in bytes; only of today.').optional(),
        uploads: z.int().describe('Number of uploaded files.'),
        uploadedBytes: z.int().describe('Their size in bytes.'),
        deliveries: z.int().describe('Number of delivered files.'),
        bytes: z.int().describe('Delivered bytes.'),
        transformations: z.int().describe('Number of derivatives that were rendered and stored.'),
        cacheHits: z.int().describe('Number of requests for derivatives that were stored already.'),
        errors: z.int().describe('Number of deliveries with a status from 400, except 423.'),
      }),
    )
    .describe('Days with activity, and today, by client.'),
})

const PERIOD = {
  from: day('First day, in UTC. Default: 29 days before `to`.'),
  to: day('Last day, in UTC. Default: today.'),
}

const getUsage = endpoint({
  route: 'GET /v1/usage',
  id: 'getUsage',
  tag: 'Files',
  summary: 'Get the size of all stored files, and the usage of each day',
  access: { secret: 'read', everywhere: true },
  query: PERIOD,
  responses: { 200: json(usageReport, 'Stored files and usage.') },
  examples: [
    {
      id: 'day',
      summary: 'One day',
      parameters: { from: '2026-11-30', to: '2026-11-30' },
      status: 200,
      response: {
        files: 1,
        storedBytes: 137628,
        deletedFiles: 0,
        deletedBytes: 0,
        days: [
          {
            day: '2026-11-30',
            uploads: 1,
            uploadedBytes: 137628,
            deliveries: 20,
            deliveredBytes: 409600,
            transformations: 3,
            cacheHits: 17,
            errors: 0,
          },
        ],
      },
    },
  ],

  async handle({ usage }: Pick<Services, 'usage'>, { caller: { client }, query }) {
    const { stored, days } = await usage.of(client.id, periodOf(query))
    const report: z.input<typeof usageReport> = {
      files: stored.stored.files,
      storedBytes: stored.stored.bytes,
      deletedFiles: stored.trashed.files,
      deletedBytes: stored.trashed.bytes,
      days,
    }
    return { json: report }
  },
})

const getClientUsage = endpoint({
  route: 'GET /v1/clients/usage',
  id: 'getClientUsage',
  tag: 'Clients',
  summary: 'Get the usage of all clients by day',
  access: 'admin',
  query: PERIOD,
  responses: { 200: json(clientUsageReport, 'The days with activity, and today, by client.') },
  examples: [
    {
      id: 'before',
      summary: 'A day without activity',
      parameters: { from: '2025-11-30', to: '2025-11-30' },
      status: 200,
      response: { days: [] },
    },
    { id: 'month', summary: 'The last 30 days', status: 200 },
  ],

  async handle({ usage, listClients }: Services, { query }) {
    const period = periodOf(query)
    const clients = listClients().map(({ id }) => id)
    const daysMax = Math.max(1, Math.floor(ROWS_MAX / Math.max(1, clients.length)))
    if (daysBetween(period.from, period.to).length > daysMax)
      throw badParameter({
        param: 'from',
        expected: `at most ${daysMax} ${daysMax === 1 ? 'day' : 'days'} for ${clients.length} clients`,
        received: period.from,
      })
    const days = await usage.ofClients(clients, period)
    const report: z.input<typeof clientUsageReport> = {
      days: days.map(({ clientId, day: of, storedBytes, deliveredBytes: bytes, ...counts }) => ({
        day: of,
        client: clientId,
        ...(storedBytes === undefined ? {} : { storedBytes }),
        ...counts,
        bytes,
      })),
    }
    return { json: report }
  },
})

/** Stored files and the usage per day: of a client, and of all of them. */
export const USAGE = [getUsage, getClientUsage]

/** The period of a query. Default: the last 30 days. @throws Problem 400 */
function periodOf({ from: first, to: last }: { from: Day | undefined; to: Day | undefined }): Period {
  const to = last ?? dayOf(Date.now())
  const from = first ?? daysBefore(to, DEFAULT_DAYS - 1)
  const length = from > to ? 0 : daysBetween(from, daysBefore(to, 0)).length
  if (length < 1 || length > USAGE_RETENTION_DAYS)
    throw badParameter({
      param: 'from',
      expected: `a day not after to (at most ${USAGE_RETENTION_DAYS - 1} days before it)`,
      received: from,
    })
  return { from, to }
}
