import { z } from 'zod'
import { isEntryId } from '../../core/ports/audit-log.ts'
import { badParameter } from '../../core/problem.ts'
import type { AuditTrail } from '../../service/admin/audit.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { replyOf } from '../endpoint/named.ts'
import { pageOf, text } from '../endpoint/query.ts'
import { instant, iso } from '../wire/instant.ts'

const auditEntry = replyOf('AuditEntry', 'A change by a person.', {
  id: z.string().describe('ID of the entry.'),
  at: instant('When the change happened.'),
  member: z
    .object({ id: z.string(), name: z.string() })
    .nullable()
    .describe('Who has done it: a member, or `operator` for ADMIN_PASSWORD. Null when it is unknown.'),
  address: z.string().describe('IP address, or `command line`.'),
  action: z.string().describe('What was done: `client.create`, `secret.rotate`, `file.delete`, …'),
  client: z.string().describe('ID of the client whose data was changed.').optional(),
  target: z.string().describe('What was changed: an ID, a name or a path.').optional(),
  details: z.record(z.string(), z.unknown()).readonly().describe('More about the change.').optional(),
})
const auditEntries = replyOf('AuditEntries', 'A page of the audit log.', {
  entries: z.array(auditEntry),
  next: z.string().describe('Cursor of the next page; absent on the last page.').optional(),
})

const listAuditEntries = endpoint({
  route: 'GET /v1/audit',
  id: 'listAuditEntries',
  tag: 'Service',
  summary: 'List changes by people, the latest first',
  description:
    'Has changes of clients and members, and changes of files by members of the console. Requests with the secret of a client are not listed.',
  access: 'admin',
  query: {
    client: text('Only changes of this client, by ID.'),
    member: text('Only changes by this member, by ID.'),
    ...pageOf('entries'),
  },
  responses: { 200: json(auditEntries, 'A page of the log.') },
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

  async handle({ audit }: { audit: AuditTrail }, { query: { cursor, limit, client, member } }) {
    if (cursor !== undefined && !isEntryId(cursor))
      throw badParameter({ param: 'cursor', expected: 'a cursor of an earlier response', received: cursor })
    // One more shows whether there is a further page.
    const found = await audit.list({ client, member, before: cursor, limit: limit + 1 })
    const entries = found.slice(0, limit)
    const last = found.length > limit ? entries.at(-1) : undefined
    const page: z.input<typeof auditEntries> = {
      entries: entries.map(({ at, ...entry }) => ({ ...entry, at: iso(at) })),
      ...(last ? { next: last.id } : {}),
    }
    return { json: page }
  },
})

/** The changes by people. */
export const AUDIT = [listAuditEntries]
