import { clientUsageReport } from '../../../wire/operator/usage.ts'
import type { Endpoint } from '../../endpoint.ts'
import { query } from '../../parameters.ts'

const DAY = { type: 'string', format: 'date' }

/** The usage of all clients. */
export const CLIENT_USAGE: readonly Endpoint[] = [
  {
    route: 'GET /v1/clients/usage',
    id: 'getClientUsage',
    tag: 'Clients',
    summary: 'Get the usage of all clients by day',
    access: 'admin',
    parameters: [
      query('from', 'First day, in UTC. Default: 29 days before `to`.', DAY),
      query('to', 'Last day, in UTC. Default: today.', DAY),
    ],
    responses: {
      200: {
        description: 'The days with activity, and today, by client.',
        content: { 'application/json': { schema: clientUsageReport } },
        headers: ['Cache-Control'],
      },
    },
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
  },
]
