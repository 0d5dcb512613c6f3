import { z } from 'zod'

const count = z.int()

/** The usage of all clients per day. */
export const clientUsageReport = z
  .object({
    days: z
      .array(
        z.object({
          day: z.iso.date().describe('Day in UTC.'),
          client: z.string().describe('ID of the client.'),
          storedBytes: count.describe('Size of its stored files in bytes; only of today.').optional(),
          uploads: count.describe('Number of uploaded files.'),
          uploadedBytes: count.describe('Their size in bytes.'),
          deliveries: count.describe('Number of delivered files.'),
          bytes: count.describe('Delivered bytes.'),
          transformations: count.describe('Number of derivatives that were rendered and stored.'),
          cacheHits: count.describe('Number of requests for derivatives that were stored already.'),
          errors: count.describe('Number of deliveries with a status from 400, except 423.'),
        }),
      )
      .describe('Days with activity, and today, by client.'),
  })
  .describe('The usage of all clients per day.')

export type ClientUsageReport = z.input<typeof clientUsageReport>
