import { z } from 'zod'
import { GIVEN_SETTINGS } from '../../core/clients/storage-settings.ts'
import { Problem } from '../../core/problem.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { bodyOf, replyOf } from '../endpoint/named.ts'
import {
  CLIENT_ID,
  CLIENT_MAX_BYTES,
  type ClientServices,
  OF_ONE_CLIENT,
  ONE_CLIENT,
  shownClient,
} from './client.ts'

/** The settings of an own bucket. */
export const storageSettings = bodyOf('StorageSettings', GIVEN_SETTINGS)
const testedStorage = replyOf('TestedStorage', 'The bucket can be used.', {
  ms: z.int().describe('Duration of the test in milliseconds.'),
})

export const setClientStorage = endpoint({
  route: 'PUT /v1/clients/:id/storage',
  id: 'setClientStorage',
  tag: 'Clients',
  summary: 'Change the own bucket of a client',
  access: 'admin',
  body: storageSettings,
  bodyMaxBytes: CLIENT_MAX_BYTES,
  secretMembers: ['secretAccessKey'],
  responses: ONE_CLIENT,
  problems: [...OF_ONE_CLIENT, '422 storage_unusable'],
  audit: 'storage.set',
  examples: [
    {
      id: 'unknown',
      summary: 'A client that does not exist',
      parameters: { id: 'none' },
      body: {
        bucket: 'photos',
        region: 'eu-central-1',
        accessKeyId: 'AKIA1234567890',
        secretAccessKey: 'secret',
      },
      status: 404,
    },
  ],

  handle: async ({ managedClients }: ClientServices, { params: { id = '' }, body }) => ({
    json: await managedClients.setStorage(id, body).catch(withoutServerResponse),
  }),
})

export const removeClientStorage = endpoint({
  route: 'DELETE /v1/clients/:id/storage',
  id: 'removeClientStorage',
  tag: 'Clients',
  summary: "Return a client to the installation's bucket",
  access: 'admin',
  responses: ONE_CLIENT,
  problems: [...OF_ONE_CLIENT, '422 storage_unusable'],
  audit: 'storage.remove',
  examples: [shownClient('A client')],

  handle: async ({ managedClients }: ClientServices, { params: { id = '' } }) => ({
    json: await managedClients.setStorage(id, undefined).catch(withoutServerResponse),
  }),
})

export const testClientStorage = endpoint({
  route: 'POST /v1/clients/:id/storage/test',
  id: 'testClientStorage',
  tag: 'Clients',
  summary: 'Test a bucket, without a change of the client',
  description:
    'Puts an object, reads it, lists it and deletes it. Without a body, this tests the own bucket of the client with its stored credentials.',
  access: 'admin',
  body: storageSettings,
  bodyMaxBytes: CLIENT_MAX_BYTES,
  isBodyOptional: true,
  secretMembers: ['secretAccessKey'],
  responses: { 200: json(testedStorage, 'The bucket can be used.') },
  problems: [...OF_ONE_CLIENT, '422 storage_unusable'],
  examples: [
    {
      id: 'shared',
      summary: 'A client without a bucket of its own',
      parameters: CLIENT_ID,
      status: 409,
    },
  ],

  handle: async ({ managedClients }: ClientServices, { params: { id = '' }, body }) => ({
    json: await managedClients.testStorage(id, body).catch(withoutServerResponse),
  }),
})

/**
 * Leaves the server's response at a bucket's address to the log: in
 * a response it would reveal what listens in the service's network.
 */
export function withoutServerResponse(error: unknown): never {
  if (!(error instanceof Problem) || error.code !== 'storage_unusable') throw error
  const { step, reason } = error.members
  const why =
    reason === 'unreachable' ? 'no S3 store responds at this endpoint; the log has the reason' : reason
  throw error.with({ cause: error, detail: `the bucket cannot be used: could not ${step}: ${why}` })
}
