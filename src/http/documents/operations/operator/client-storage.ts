import { storage } from '../../../admin/client-request.ts'
import { testedStorage } from '../../../wire/clients.ts'
import type { Endpoint } from '../../endpoint.ts'
import { CLIENT, ID, ok, shown } from '../clients.ts'

/** The own bucket of a client. */
export const CLIENT_STORAGE: readonly Endpoint[] = [
  {
    route: 'PUT /v1/clients/:id/storage',
    id: 'setClientStorage',
    tag: 'Clients',
    summary: 'Change the own bucket of a client',
    access: 'admin',
    body: { 'application/json': { schema: storage } },
    responses: CLIENT,
  },
  {
    route: 'DELETE /v1/clients/:id/storage',
    id: 'removeClientStorage',
    tag: 'Clients',
    summary: "Return a client to the installation's bucket",
    access: 'admin',
    responses: CLIENT,
    examples: [shown('A client')],
  },
  {
    route: 'POST /v1/clients/:id/storage/test',
    id: 'testClientStorage',
    tag: 'Clients',
    summary: 'Test a bucket, without a change of the client',
    description:
      'Puts an object, reads it, lists it and deletes it. Without a body, this tests the own bucket of the client with its stored credentials.',
    access: 'admin',
    body: { 'application/json': { schema: storage } },
    isBodyOptional: true,
    responses: ok('The bucket can be used.', testedStorage),
    examples: [
      { id: 'shared', summary: 'A client without a bucket of its own', parameters: ID, status: 409 },
    ],
  },
]
