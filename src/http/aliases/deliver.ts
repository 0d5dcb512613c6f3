import { parseAliasName } from '../../core/aliases/name.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import { Problem } from '../../core/problem.ts'
import { aliasTargetMissing } from '../../service/aliases/alias-problems.ts'
import type { Aliases } from '../../service/aliases/aliases.ts'
import type { Redirects } from '../../service/moves/redirects.ts'
import { callerByToken } from '../caller/caller.ts'
import { isAliasWithin } from '../caller/signed-cookie.ts'
import { corsPublicRead } from '../delivery/cors.ts'
import { deliveryParameters } from '../delivery/parameters.ts'
import {
  MEDIA_PROBLEMS,
  SENT_PROBLEMS,
  SIGNATURE_PROBLEMS,
  TRANSFORMED_PROBLEMS,
} from '../delivery/problems.ts'
import { STORED_FILE } from '../delivery/responses.ts'
import { type StoredFileServices, storedFiles } from '../delivery/stored-file.ts'
import { EXAMPLE, fileExamples } from '../documents/examples.ts'
import { ALIAS_NAME } from '../documents/parameters.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'
import { groupOf } from '../request.ts'

/** The services that handle these requests. */
export interface Services extends StoredFileServices {
  aliases: Pick<Aliases, 'target'>
  redirects: Pick<Redirects, 'follow'>
}

const EXAMPLES = [
  {
    id: 'small',
    summary: '300 px wide, as WebP',
    parameters: { token: EXAMPLE.token, path: EXAMPLE.alias, w: '300', f: 'webp' },
    status: 200,
  },
]

/** The file of an alias, transformed by the parameters of the query. */
export const deliverAlias: ServedEndpoint<Services> = {
  route: 'GET /v1/:group/alias/:token/*path',
  id: 'get{Group}ByAlias',
  tag: 'Delivery',
  summary: 'Deliver {file} by the name of an alias, transformed by the parameters',
  access: 'signature or cookie',
  responses: STORED_FILE,
  problems: [
    ...SIGNATURE_PROBLEMS,
    '400 bad_parameter',
    '400 bad_path',
    '404 alias_not_found',
    '404 alias_of_other_type',
    '404 alias_target_missing',
    '404 client_not_found',
    ...SENT_PROBLEMS,
    ...TRANSFORMED_PROBLEMS,
    ...MEDIA_PROBLEMS,
  ],
  byGroup: (group, parameters) => ({
    parameters: [ALIAS_NAME, ...deliveryParameters(group, parameters)],
    examples: group === 'image' ? EXAMPLES : fileExamples({ path: EXAMPLE.alias }),
  }),
  first: corsPublicRead,

  handlerOf(services) {
    const { clients, aliases, redirects } = services
    const send = storedFiles(services)
    return async (req, res) => {
      const group = groupOf(req)
      const { client, path: named, query } = callerByToken(req, clients, isAliasWithin)
      const name = parseAliasName(named, 'path')
      const { key, setAt } = await aliases.target({ client, name, group })
      const deliver = async (path: ObjectKey) => {
        // The name may be public, although the file is in a private folder: `send` checks that too.
        await send(req, res, { client, group, query, findPath: async () => path, alias: { name, setAt } })
      }
      try {
        await deliver(key)
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'file_not_found') throw error
        const moved = await redirects.follow(client, key)
        if (!moved) throw aliasTargetMissing()
        await deliver(moved.name.key)
      }
    }
  },
}
