import { z } from 'zod'
import { instant } from './record.ts'

/** The token of a signed-in operator. */
export const adminSession = z
  .object({
    token: z.string().describe('Bearer token for the endpoints of clients.'),
    expiresAt: instant('When the token expires.'),
  })
  .describe('A session of the operator.')

export type AdminSession = z.input<typeof adminSession>
