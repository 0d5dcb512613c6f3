import { z } from 'zod'
import { ruleChanges } from '../../core/clients/rules/schemas.ts'
import { RULE_NAMES } from '../../core/clients/rules/table.ts'
import { badParameter } from '../../core/problem.ts'
import { listed } from '../../core/text/listed.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { bodyOf, named, replyOf } from '../endpoint/named.ts'
import type { QueryParameter } from '../endpoint/query.ts'
import { stateOf } from '../request-state.ts'
import {
  CLIENT_ID,
  CLIENT_MAX_BYTES,
  type ClientServices,
  client,
  EXAMPLE_CLIENT,
  OF_ONE_CLIENT,
  ONE_CLIENT,
  shownClient,
  WITH_SECRET,
} from './client.ts'
import { storageSettings, withoutServerResponse } from './storage.ts'

const clients = named('Clients', z.array(client).describe('The first client, then the others by age.'))
const removedClient = replyOf('RemovedClient', 'The deleted client.', {
  originals: z.int().describe('Number of originals that were deleted.'),
})

// In JSON, `null` removes a rule. The service uses `false` for this.
const REMOVE = z.null().transform(() => false as const)
const rules = z
  .strictObject(ruleChanges(REMOVE), `an object of ${listed(RULE_NAMES)}`)
  .describe('Rules to change. Absent rules stay unchanged, `null` removes a rule.')
const newClient = bodyOf('NewClient', {
  name: z.string('a string').describe('Name for people.').optional(),
  rules: rules.optional(),
  storage: storageSettings
    .describe('Own bucket of the client. Later it can be set only while the client has no files.')
    .optional(),
})
const clientChange = bodyOf('ClientChange', {
  name: z
    .union([z.string(), z.null()], 'a string or null')
    .describe('Name for people. `null` removes it.')
    .optional(),
  rules: rules.optional(),
})

// Only what can mean nothing else.
const DELETES_FILES: QueryParameter<boolean> = {
  description: 'Deletes all files of the client too.',
  schema: { type: 'string', enum: ['', '1'] },
  read(received, param) {
    if (received === undefined) return false
    if (received === '' || received === '1') return true
    throw badParameter({ param, expected: 'no value, or 1', received })
  },
}

export const listClients = endpoint({
  route: 'GET /v1/clients',
  id: 'listClients',
  tag: 'Clients',
  summary: 'List all clients',
  access: 'admin',
  responses: { 200: json(clients, 'All clients.') },
  problems: ['400 bad_parameter'],
  examples: [{ id: 'all', summary: 'All clients', status: 200, response: [EXAMPLE_CLIENT] }],

  handle: async ({ managedClients }: ClientServices) => ({ json: await managedClients.list() }),
})

export const createClient = endpoint({
  route: 'POST /v1/clients',
  id: 'createClient',
  tag: 'Clients',
  summary: 'Create a client',
  access: 'admin',
  body: newClient,
  bodyMaxBytes: CLIENT_MAX_BYTES,
  secretMembers: ['storage', 'secretAccessKey'],
  responses: WITH_SECRET,
  problems: ['400 bad_path', '409 client_conflict', '422 storage_unusable'],
  audit: 'client.create',
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

  async handle({ managedClients }: ClientServices, { req, body }) {
    const created = await managedClients.create(body).catch(withoutServerResponse)
    stateOf(req).audited = { target: created.id }
    return { json: created }
  },
})

export const getClient = endpoint({
  route: 'GET /v1/clients/:id',
  id: 'getClient',
  tag: 'Clients',
  summary: 'Get one client',
  access: 'admin',
  responses: ONE_CLIENT,
  problems: OF_ONE_CLIENT,
  examples: [shownClient('A client')],

  handle: async ({ managedClients }: ClientServices, { params: { id = '' } }) => ({
    json: await managedClients.show(id),
  }),
})

export const updateClient = endpoint({
  route: 'PATCH /v1/clients/:id',
  id: 'updateClient',
  tag: 'Clients',
  summary: 'Change the name and the rules of a client',
  access: 'admin',
  body: clientChange,
  bodyMaxBytes: CLIENT_MAX_BYTES,
  responses: ONE_CLIENT,
  problems: [...OF_ONE_CLIENT, '400 bad_path', '400 bad_presets'],
  audit: 'client.update',
  examples: [
    {
      id: 'rename',
      summary: 'A new name, and a removed rule',
      parameters: CLIENT_ID,
      body: { name: 'Shop', rules: { keepDeletedSeconds: null } },
      status: 200,
      response: EXAMPLE_CLIENT,
    },
  ],

  async handle({ managedClients }: ClientServices, { req, params: { id = '' }, body }) {
    if (body.name === undefined && Object.keys(body.rules ?? {}).length === 0)
      throw badParameter({ param: 'the body', expected: 'a name or a rule', received: body })
    const changed = [...(body.name === undefined ? [] : ['name']), ...Object.keys(body.rules ?? {})]
    stateOf(req).audited = { details: { changed: changed.join(', ') } }
    return { json: await managedClients.update(id, body) }
  },
})

export const deleteClient = endpoint({
  route: 'DELETE /v1/clients/:id',
  id: 'deleteClient',
  tag: 'Clients',
  summary: 'Delete a client',
  description: 'A client with files is deleted only with `files`.',
  access: 'admin',
  // Any other one could be misspelled, and mean to delete files, or not to.
  query: { files: DELETES_FILES },
  responses: { 200: json(removedClient, 'The client was deleted.') },
  problems: OF_ONE_CLIENT,
  audit: 'client.delete',
  examples: [
    {
      id: 'shop',
      summary: 'Delete a client without files',
      parameters: CLIENT_ID,
      status: 200,
      response: { originals: 0 },
    },
  ],

  // A disconnect aborts the removal, as Ctrl-C does on the command line. The next call continues it.
  handle: async ({ managedClients }: ClientServices, { params: { id = '' }, query: { files }, signal }) => ({
    json: await managedClients.remove(id, { files, signal, progress: async () => {} }),
  }),
})
