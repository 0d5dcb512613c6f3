import { ALIAS_NAME } from '../documents/parameters.ts'
import { endpoint } from '../endpoint/endpoint.ts'
import { ALIAS_EXAMPLE, type AliasServices, aliasNameIn, IF_MATCH, matching } from './alias.ts'

export const deleteAlias = endpoint({
  route: 'DELETE /v1/aliases/*path',
  id: 'deleteAlias',
  tag: 'Files',
  summary: 'Delete an alias',
  description: 'Deletes the name and its versions. No file is deleted.',
  access: { secret: 'manage' },
  parameters: [ALIAS_NAME, IF_MATCH],
  responses: { 204: { description: 'The alias does not exist any more.' } },
  problems: ['400 bad_path', '404 alias_not_found', '412 precondition_failed'],
  audit: 'alias.delete',
  examples: [{ id: 'delete', summary: 'Delete an alias', parameters: ALIAS_EXAMPLE.path, status: 204 }],

  async handle({ aliases }: AliasServices, { req, caller, signal }) {
    const name = aliasNameIn(req, caller)
    await aliases.remove({ client: caller.client, name, check: matching(req), signal })
    return {}
  },
})
