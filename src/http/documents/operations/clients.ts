import type { z } from 'zod'
import { changes, newClient, newSecret, rotation, storage } from '../../admin/client-request.ts'
import { signIn } from '../../admin/sign-in.ts'
import {
  adminSession,
  client,
  clients,
  clientWithSecret,
  clientWithUrlKey,
  newScopedSecret,
  removedClient,
} from '../../wire/clients.ts'
import type { Endpoint, Example, Success } from '../endpoint.ts'
import { EXAMPLE } from '../examples.ts'
import { flag } from '../parameters.ts'
import { TEST_STORAGE } from './operator/test-storage.ts'

const ok = (description: string, schema: z.ZodType): Readonly<Record<number, Success>> => ({
  200: { description, content: { 'application/json': { schema } }, headers: ['Cache-Control'] },
})
const CLIENT = ok('The client.', client)
const WITH_SECRET = ok('The client and its new secret, which is only in this response.', clientWithSecret)

const ID = { id: EXAMPLE.clientId }
const EXAMPLE_CLIENT = {
  id: EXAMPLE.clientId,
  name: 'Shop',
  clientToken: EXAMPLE.token,
  createdAt: '2026-11-30T12:00:00.000Z',
  state: 'active',
}

/** An example with the client as its response. */
const shown = (summary: string, parameters: Readonly<Record<string, string>> = {}): Example => ({
  id: 'shop',
  summary,
  parameters: { ...ID, ...parameters },
  status: 200,
  response: EXAMPLE_CLIENT,
})

/** Management of clients, for a signed-in operator. */
export const CLIENTS: readonly Endpoint[] = [
  {
    route: 'POST /v1/sign-in',
    id: 'signIn',
    tag: 'Clients',
    summary: 'Exchange the password of the operator for a token',
    access: 'public',
    body: { 'application/json': { schema: signIn } },
    responses: {
      200: {
        description: 'The session.',
        content: { 'application/json': { schema: adminSession } },
        headers: ['Cache-Control', 'RateLimit', 'RateLimit-Policy'],
      },
    },
    isRateLimited: true,
    examples: [
      {
        id: 'wrong',
        summary: 'A wrong password',
        body: { password: 'not the password' },
        status: 401,
      },
    ],
  },
  {
    route: 'GET /v1/clients',
    id: 'listClients',
    tag: 'Clients',
    summary: 'List all clients',
    access: 'admin',
    responses: ok('All clients.', clients),
    examples: [{ id: 'all', summary: 'All clients', status: 200, response: [EXAMPLE_CLIENT] }],
  },
  {
    route: 'POST /v1/clients',
    id: 'createClient',
    tag: 'Clients',
    summary: 'Create a client',
    access: 'admin',
    body: { 'application/json': { schema: newClient } },
    responses: WITH_SECRET,
    examples: [
      {
        id: 'shop',
        summary: 'A client with soft delete',
        body: { name: 'Shop', rules: { keepDeletedSeconds: 86400 } },
        status: 200,
        response: {
          ...EXAMPLE_CLIENT,
          rules: { keepDeletedSeconds: 86400 },
          secretClientToken: 'sec_…',
        },
      },
    ],
  },
  {
    route: 'GET /v1/clients/:id',
    id: 'getClient',
    tag: 'Clients',
    summary: 'Get one client',
    access: 'admin',
    responses: CLIENT,
    examples: [shown('A client')],
  },
  {
    route: 'PATCH /v1/clients/:id',
    id: 'updateClient',
    tag: 'Clients',
    summary: 'Change the name and the rules of a client',
    access: 'admin',
    body: { 'application/json': { schema: changes } },
    responses: CLIENT,
    examples: [
      {
        id: 'rename',
        summary: 'A new name, and a removed rule',
        parameters: ID,
        body: { name: 'Shop', rules: { keepDeletedSeconds: null } },
        status: 200,
        response: EXAMPLE_CLIENT,
      },
    ],
  },
  {
    route: 'DELETE /v1/clients/:id',
    id: 'deleteClient',
    tag: 'Clients',
    summary: 'Delete a client',
    description: 'A client with files is deleted only with `files`.',
    access: 'admin',
    parameters: [flag('files', 'Deletes all files of the client too.')],
    responses: ok('The client was deleted.', removedClient),
    examples: [
      {
        id: 'shop',
        summary: 'Delete a client without files',
        parameters: ID,
        status: 200,
        response: { originals: 0 },
      },
    ],
  },
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
  TEST_STORAGE,
  {
    route: 'POST /v1/clients/:id/rotate',
    id: 'rotateSecret',
    tag: 'Clients',
    summary: 'Replace the secret of a client',
    access: 'admin',
    body: { 'application/json': { schema: rotation } },
    isBodyOptional: true,
    responses: WITH_SECRET,
    examples: [
      {
        id: 'day',
        summary: 'The old secret remains valid for a day',
        parameters: ID,
        body: { keepOldSeconds: 86400 },
        status: 200,
        response: {
          ...EXAMPLE_CLIENT,
          oldSecretUntil: '2026-12-01T12:00:00.000Z',
          secretClientToken: 'sec_…',
        },
      },
    ],
  },
  {
    route: 'POST /v1/clients/:id/keys',
    id: 'addUrlKey',
    tag: 'Clients',
    summary: 'Add a key for signed URLs',
    access: 'admin',
    responses: ok('The client and its new key, which is only in this response.', clientWithUrlKey),
    examples: [
      {
        id: 'shop',
        summary: 'The first key',
        parameters: ID,
        status: 200,
        response: { ...EXAMPLE_CLIENT, urlKeys: [1], urlKey: { version: 1, key: 'c2VjcmV0' } },
      },
    ],
  },
  {
    route: 'DELETE /v1/clients/:id/keys/:version',
    id: 'removeUrlKey',
    tag: 'Clients',
    summary: 'Revoke a key for signed URLs',
    access: 'admin',
    responses: CLIENT,
    examples: [shown('The first key', { version: '1' })],
  },
  {
    route: 'POST /v1/clients/:id/secrets',
    id: 'addSecret',
    tag: 'Clients',
    summary: 'Add a scoped secret',
    access: 'admin',
    body: { 'application/json': { schema: newSecret } },
    responses: ok('The new secret, which is only in this response.', newScopedSecret),
    examples: [
      {
        id: 'uploads',
        summary: 'A secret for uploads into one folder',
        parameters: ID,
        body: { name: 'Avatars', only: 'upload', folder: 'avatars' },
        status: 200,
        response: {
          id: EXAMPLE.secretId,
          name: 'Avatars',
          only: 'upload',
          folder: 'avatars',
          secretClientToken: 'sec_…',
        },
      },
    ],
  },
  {
    route: 'DELETE /v1/clients/:id/secrets/:secretId',
    id: 'removeSecret',
    tag: 'Clients',
    summary: 'Revoke a scoped secret',
    access: 'admin',
    responses: CLIENT,
    examples: [shown('A secret', { secretId: EXAMPLE.secretId })],
  },
]
