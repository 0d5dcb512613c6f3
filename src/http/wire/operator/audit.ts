import { z } from 'zod'
import { instant } from '../record.ts'

/** An entry of the audit log. */
export const auditEntry = z
  .object({
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
  .describe('A change by a person.')

/** A page of the audit log. */
export const auditEntries = z
  .object({
    entries: z.array(auditEntry),
    next: z.string().describe('Cursor of the next page; absent on the last page.').optional(),
  })
  .describe('A page of the audit log.')

export type AuditEntries = z.input<typeof auditEntries>
