import { z } from 'zod'
import { commonFolder } from '../../core/clients/secret-scope.ts'
import type { ListAliases } from '../../service/aliases/list.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { replyOf } from '../endpoint/named.ts'
import { pageOf, text } from '../endpoint/query.ts'
import { cursorOf, nextCursor, positionOf } from '../files/cursor.ts'
import { folderIn } from '../files/list.ts'
import { ALIAS_EXAMPLE, listedAlias, listedToWire } from './alias.ts'

/** The services that handle these requests. */
export interface Services {
  listAliases: ListAliases
  /** 32 bytes, the key that seals cursors. */
  cursorKey: Buffer
  baseUrl: string
}

const aliasList = replyOf('AliasList', 'A page of a list of aliases.', {
  aliases: z.array(listedAlias),
  cursor: nextCursor,
})

export const listAliases = endpoint({
  route: 'GET /v1/aliases',
  id: 'listAliases',
  tag: 'Files',
  summary: 'List aliases',
  access: { secret: 'read' },
  query: { prefix: text('Only aliases in this folder and its subfolders.'), ...pageOf('aliases') },
  responses: { 200: json(aliasList, 'A page of the list, sorted by name.') },
  problems: ['400 bad_path'],
  examples: [
    {
      id: 'folder',
      summary: 'The aliases of a folder',
      parameters: { prefix: 'products' },
      status: 200,
      response: { aliases: [{ ...ALIAS_EXAMPLE.place, ...ALIAS_EXAMPLE.current }], cursor: null },
    },
  ],

  async handle({ listAliases: list, cursorKey, baseUrl }: Services, { caller, query, signal }) {
    const { client } = caller
    const prefix = folderIn(query.prefix)
    const place = { ...caller, sort: `aliases in ${prefix}`, key: cursorKey }
    const after = positionOf(query.cursor, place)
    const folder = commonFolder(prefix, caller.folder ?? '')
    const { aliases: found, next } =
      folder === undefined
        ? { aliases: [], next: undefined }
        : await list({ client, folder, after, limit: query.limit, signal })
    const page: z.input<typeof aliasList> = {
      aliases: found.map(({ name, ...version }) => listedToWire(name, version, { client, baseUrl })),
      cursor: cursorOf(next, place),
    }
    return { json: page }
  },
})
