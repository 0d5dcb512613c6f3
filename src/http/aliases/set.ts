import { z } from 'zod'
import { candidatesInFolder } from '../../core/clients/grant.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { ALIAS_NAME } from '../documents/parameters.ts'
import { endpoint } from '../endpoint/endpoint.ts'
import { bodyOf } from '../endpoint/named.ts'
import {
  ALIAS_EXAMPLE,
  type AliasServices,
  aliasReply,
  IF_MATCH,
  matching,
  newAliasNameIn,
  ONE_ALIAS,
} from './alias.ts'

const aliasTarget = bodyOf('AliasTarget', {
  file: z
    .string('a path')
    .describe('Path of an original: its key, or `[folder/]<sourceName>`, not percent-encoded.'),
})

export const setAlias = endpoint({
  route: 'PUT /v1/aliases/*path',
  id: 'setAlias',
  tag: 'Files',
  summary: 'Set an alias to a file',
  description: 'Creates the alias when it does not exist. The previous file becomes a version of the alias.',
  access: { secret: 'manage' },
  parameters: [ALIAS_NAME, IF_MATCH],
  body: aliasTarget,
  responses: { 200: ONE_ALIAS, 201: { ...ONE_ALIAS, description: 'The new alias.' } },
  problems: ['400 bad_path', '404 file_not_found', '412 precondition_failed', '503 storage_full'],
  audit: 'alias.set',
  examples: [
    {
      id: 'new',
      summary: 'A new alias',
      parameters: { path: 'products/table.jpg' },
      body: { file: EXAMPLE.key },
      status: 201,
      response: {
        name: 'products/table.jpg',
        src: `${EXAMPLE.baseUrl}/v1/image/alias/${EXAMPLE.token}/products/table.jpg`,
        ...ALIAS_EXAMPLE.first,
        versions: [ALIAS_EXAMPLE.first],
      },
    },
  ],

  async handle({ aliases, baseUrl }: AliasServices, { req, caller, body, signal }) {
    const { client } = caller
    const name = newAliasNameIn(req, caller)
    const path = candidatesInFolder(parsePath(body.file, { param: 'file' }), caller)
    const { isNew, ...described } = await aliases.set({ client, name, path, check: matching(req), signal })
    return { ...aliasReply(described, { client, baseUrl }), ...(isNew ? { status: 201 } : {}) }
  },
})
