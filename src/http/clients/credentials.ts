import { z } from 'zod'
import { boundedInteger } from '../../core/bounded-schemas.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { bodyOf, replyOf } from '../endpoint/named.ts'
import {
  CLIENT_ID,
  type ClientServices,
  client,
  EXAMPLE_CLIENT,
  OF_ONE_CLIENT,
  ONE_CLIENT,
  scopedSecret,
  secretToken,
  shownClient,
  WITH_SECRET,
} from './client.ts'

const MAX_SECONDS = 365 * 86_400
const seconds = (min: number) => boundedInteger({ min, max: MAX_SECONDS })

const rotation = bodyOf('SecretRotation', {
  keepOldSeconds: seconds(0)
    .describe('How long the current secrets remain valid, in seconds.')
    .default(86_400),
})
const newSecret = bodyOf('NewSecret', {
  name: z.string('a string').describe('Name for people.').optional(),
  only: z.enum(['upload', 'read'], 'upload or read').describe('Uploads only, or reading only.').optional(),
  folder: z.string('a string').describe('This folder only, with its subfolders.').optional(),
  validSeconds: seconds(1).describe('When the secret expires, in seconds. Default: never.').optional(),
})
const newScopedSecret = replyOf('NewScopedSecret', 'A new scoped secret.', {
  ...scopedSecret.shape,
  secretClientToken: secretToken,
})
const clientWithUrlKey = replyOf('ClientWithUrlKey', 'A client and its new key for signed URLs.', {
  ...client.shape,
  urlKey: z.object({
    version: z.int().describe('Version of the key.'),
    key: z.string().describe('Key that signs URLs. It is only in this response.'),
  }),
})

export const rotateSecret = endpoint({
  route: 'POST /v1/clients/:id/rotate',
  id: 'rotateSecret',
  tag: 'Clients',
  summary: 'Replace the secret of a client',
  access: 'admin',
  body: rotation,
  isBodyOptional: true,
  responses: WITH_SECRET,
  problems: OF_ONE_CLIENT,
  audit: 'secret.rotate',
  examples: [
    {
      id: 'day',
      summary: 'The old secret remains valid for a day',
      parameters: CLIENT_ID,
      body: { keepOldSeconds: 86400 },
      status: 200,
      response: {
        ...EXAMPLE_CLIENT,
        oldSecretUntil: '2026-12-01T12:00:00.000Z',
        secretClientToken: 'sec_…',
      },
    },
  ],

  async handle({ managedClients }: ClientServices, { params: { id = '' }, body = rotation.parse({}) }) {
    return { json: await managedClients.rotate(id, { keepOldMs: body.keepOldSeconds * 1000 }) }
  },
})

export const addUrlKey = endpoint({
  route: 'POST /v1/clients/:id/keys',
  id: 'addUrlKey',
  tag: 'Clients',
  summary: 'Add a key for signed URLs',
  access: 'admin',
  responses: { 200: json(clientWithUrlKey, 'The client and its new key, which is only in this response.') },
  problems: OF_ONE_CLIENT,
  audit: 'url-key.create',
  examples: [
    {
      id: 'shop',
      summary: 'The first key',
      parameters: CLIENT_ID,
      status: 200,
      response: { ...EXAMPLE_CLIENT, urlKeys: [1], urlKey: { version: 1, key: 'c2VjcmV0' } },
    },
  ],

  handle: async ({ managedClients }: ClientServices, { params: { id = '' } }) => ({
    json: await managedClients.addUrlKey(id),
  }),
})

export const removeUrlKey = endpoint({
  route: 'DELETE /v1/clients/:id/keys/:version',
  id: 'removeUrlKey',
  tag: 'Clients',
  summary: 'Revoke a key for signed URLs',
  access: 'admin',
  responses: ONE_CLIENT,
  problems: [...OF_ONE_CLIENT, '404 key_not_found'],
  audit: 'url-key.delete',
  examples: [shownClient('The first key', { version: '1' })],

  handle: async ({ managedClients }: ClientServices, { params: { id = '', version } }) => ({
    json: await managedClients.removeUrlKey(id, Number(version)),
  }),
})

export const addSecret = endpoint({
  route: 'POST /v1/clients/:id/secrets',
  id: 'addSecret',
  tag: 'Clients',
  summary: 'Add a scoped secret',
  access: 'admin',
  body: newSecret,
  responses: { 200: json(newScopedSecret, 'The new secret, which is only in this response.') },
  problems: [...OF_ONE_CLIENT, '400 bad_path'],
  audit: 'secret.create',
  examples: [
    {
      id: 'uploads',
      summary: 'A secret for uploads into one folder',
      parameters: CLIENT_ID,
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

  async handle({ managedClients }: ClientServices, { params: { id = '' }, body }) {
    const { name, only, folder, validSeconds } = body
    const secret = await managedClients.addSecret(id, {
      name,
      scope: { ...(only ? { only } : {}), ...(folder === undefined ? {} : { folder }) },
      validMs: validSeconds === undefined ? undefined : validSeconds * 1000,
    })
    return { json: secret }
  },
})

export const removeSecret = endpoint({
  route: 'DELETE /v1/clients/:id/secrets/:secretId',
  id: 'removeSecret',
  tag: 'Clients',
  summary: 'Revoke a scoped secret',
  access: 'admin',
  responses: ONE_CLIENT,
  problems: [...OF_ONE_CLIENT, '404 secret_not_found'],
  audit: 'secret.delete',
  examples: [shownClient('A secret', { secretId: EXAMPLE.secretId })],

  handle: async ({ managedClients }: ClientServices, { params: { id = '', secretId = '' } }) => ({
    json: await managedClients.removeSecret(id, secretId),
  }),
})
