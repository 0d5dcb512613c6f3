import { auditEntries } from '../../../wire/operator/audit.ts'
import type { Endpoint } from '../../endpoint.ts'
import { EXAMPLE } from '../../examples.ts'
import { pageParameters, query } from '../../parameters.ts'

/** The changes by people. */
export const AUDIT: readonly Endpoint[] = [
  {
    route: 'GET /v1/audit',
    id: 'listAuditEntries',
    tag: 'Service',
    summary: 'List changes by people, the latest first',
    description:
      'Has changes of clients and members, and changes of files by members of the console. Requests with the secret of a client are not listed.',
    access: 'admin',
    parameters: [
      query('client', 'Only changes of this client, by ID.'),
      query('member', 'Only changes by this member, by ID.'),
      ...pageParameters('entries'),
    ],
    responses: {
      200: {
        description: 'A page of the log.',
        content: { 'application/json': { schema: auditEntries } },
        headers: ['Cache-Control'],
      },
    },
    examples: [
      {
        id: 'client',
        summary: 'Changes of a client',
        parameters: { client: EXAMPLE.clientId },
        status: 200,
        response: {
          entries: [
            {
              id: '1796040000000-0',
              at: '2026-11-30T12:00:00.000Z',
              member: { id: 'operator', name: 'operator' },
              address: '203.0.113.7',
              action: 'client.create',
              client: EXAMPLE.clientId,
              target: EXAMPLE.clientId,
            },
          ],
        },
      },
    ],
  },
]
