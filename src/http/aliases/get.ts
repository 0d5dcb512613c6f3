import { ALIAS_NAME } from '../documents/parameters.ts'
import { endpoint } from '../endpoint/endpoint.ts'
import { ALIAS_EXAMPLE, type AliasServices, aliasNameIn, aliasReply, ONE_ALIAS } from './alias.ts'

export const getAlias = endpoint({
  route: 'GET /v1/aliases/*path',
  id: 'getAlias',
  tag: 'Files',
  summary: 'Get an alias with its last versions',
  access: { secret: 'read' },
  parameters: [ALIAS_NAME],
  responses: { 200: ONE_ALIAS },
  problems: ['400 bad_path', '404 alias_not_found'],
  examples: [
    {
      id: 'replaced',
      summary: 'An alias whose file was replaced once',
      parameters: ALIAS_EXAMPLE.path,
      status: 200,
      response: {
        ...ALIAS_EXAMPLE.place,
        ...ALIAS_EXAMPLE.current,
        versions: [ALIAS_EXAMPLE.current, ALIAS_EXAMPLE.former],
      },
    },
  ],

  async handle({ aliases, baseUrl }: AliasServices, { req, caller }) {
    const { client } = caller
    return aliasReply(await aliases.describe({ client, name: aliasNameIn(req, caller) }), { client, baseUrl })
  },
})
