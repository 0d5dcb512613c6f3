import { boundedInteger } from '../../core/bounded-schemas.ts'
import { ALIAS_NAME } from '../documents/parameters.ts'
import { endpoint } from '../endpoint/endpoint.ts'
import { bodyOf } from '../endpoint/named.ts'
import {
  ALIAS_EXAMPLE,
  type AliasServices,
  aliasNameIn,
  aliasReply,
  IF_MATCH,
  matching,
  ONE_ALIAS,
} from './alias.ts'

const aliasRollback = bodyOf('AliasRollback', {
  version: boundedInteger({ min: 1, max: Number.MAX_SAFE_INTEGER })
    .describe('Number of the version to restore. Default: the previous one.')
    .optional(),
})

export const rollBackAlias = endpoint({
  route: 'POST /v1/aliases/*path/rollback',
  path: '/v1/aliases/{path}/rollback',
  // An alias may be called `<name>/rollback`.
  passesOn: true,
  id: 'rollBackAlias',
  tag: 'Files',
  summary: 'Set an alias to the file of an earlier version',
  description: 'The restored file becomes a new version.',
  access: { secret: 'manage' },
  parameters: [ALIAS_NAME, IF_MATCH],
  body: aliasRollback,
  isBodyOptional: true,
  responses: { 200: ONE_ALIAS },
  problems: [
    '400 bad_path',
    '404 alias_not_found',
    '404 alias_target_missing',
    '404 alias_version_not_found',
    '412 precondition_failed',
    '503 storage_full',
  ],
  audit: 'alias.rollback',
  examples: [
    {
      id: 'previous',
      summary: 'To the previous version',
      parameters: ALIAS_EXAMPLE.path,
      status: 200,
      response: {
        ...ALIAS_EXAMPLE.place,
        ...ALIAS_EXAMPLE.rolledBack,
        versions: [ALIAS_EXAMPLE.rolledBack, ALIAS_EXAMPLE.current, ALIAS_EXAMPLE.former],
      },
    },
  ],

  async handle({ aliases, baseUrl }: AliasServices, { req, caller, body, signal }) {
    const { client, folder = '' } = caller
    const change = { client, name: aliasNameIn(req, caller), check: matching(req), signal }
    return aliasReply(await aliases.rollback({ ...change, version: body?.version, folder }), {
      client,
      baseUrl,
    })
  },
})
