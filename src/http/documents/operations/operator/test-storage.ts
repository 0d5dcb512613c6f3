import { storage } from '../../../admin/client-request.ts'
import { testedStorage } from '../../../wire/clients.ts'
import type { Endpoint } from '../../endpoint.ts'
import { EXAMPLE } from '../../examples.ts'

/** The connection test of a bucket. */
export const TEST_STORAGE: Endpoint = {
  route: 'POST /v1/clients/:id/storage/test',
  id: 'testClientStorage',
  tag: 'Clients',
  summary: 'Test a bucket, without a change of the client',
  description:
    'Puts an object, reads it, lists it and deletes it. Without a body, this tests the own bucket of the client with its stored credentials.',
  access: 'admin',
  body: { 'application/json': { schema: storage } },
  isBodyOptional: true,
  responses: {
    200: {
      description: 'The bucket can be used.',
      content: { 'application/json': { schema: testedStorage } },
      headers: ['Cache-Control'],
    },
  },
  examples: [
    {
      id: 'shared',
      summary: 'A client without a bucket of its own',
      parameters: { id: EXAMPLE.clientId },
      status: 409,
    },
  ],
}
