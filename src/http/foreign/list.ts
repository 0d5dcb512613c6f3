import { z } from 'zod'
import { encodedPath } from '../../core/files/object-key.ts'
import { formatOfExtension } from '../../core/media/formats.ts'
import type { ListForeign } from '../../service/foreign/list.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { replyOf } from '../endpoint/named.ts'
import { pageOf, text } from '../endpoint/query.ts'
import { cursorOf, nextCursor, positionOf } from '../files/cursor.ts'
import { instant } from '../wire/instant.ts'

/** The services that handle these requests. */
export interface Services {
  listForeign: ListForeign
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  /** 32 bytes, the key that seals cursors. */
  cursorKey: Buffer
}

const foreignObject = replyOf('ForeignObject', 'An object of another system.', {
  path: z.string().describe('Path of the object in the bucket.'),
  src: z
    .string()
    .nullable()
    .describe(
      'Delivery URL. The type in it follows from the extension of the name; null for an unknown one.',
    ),
  size: z.int().describe('Size in bytes.'),
  changedAt: instant('When the object was last changed.'),
})
const foreignList = replyOf('ForeignObjectList', 'A page of a list of objects of other systems.', {
  objects: z.array(foreignObject),
  cursor: nextCursor,
})

const listForeignObjects = endpoint({
  route: 'GET /v1/foreign',
  id: 'listForeignObjects',
  tag: 'Files',
  summary: 'List objects that other systems have written into the bucket',
  description: 'Only below the prefixes of `FOREIGN_PREFIXES`. Sorted by path.',
  access: { secret: 'read' },
  query: { prefix: text('Only paths that begin with this text.'), ...pageOf('objects') },
  responses: { 200: json(foreignList, 'A page of the list.') },
  problems: ['400 bad_path', '400 unknown_parameter'],
  examples: [
    {
      id: 'empty',
      summary: 'A service without foreign prefixes',
      parameters: {},
      status: 200,
      response: { objects: [], cursor: null },
    },
  ],

  async handle({ listForeign, baseUrl, cursorKey }: Services, { caller, query, signal }) {
    const { client, folder = '' } = caller
    const { prefix = '', cursor, limit } = query
    const place = { ...caller, sort: 'foreign', key: cursorKey }
    const after = positionOf(cursor, place)
    const { objects, next } = await listForeign({ client, prefix, folder, after, limit, signal })
    const page: z.input<typeof foreignList> = {
      objects: objects.map(({ key, size, changedAt }) => ({
        path: key,
        src: urlOf(key, { baseUrl, token: client.token }),
        size,
        changedAt: changedAt.toISOString(),
      })),
      cursor: cursorOf(next, place),
    }
    return { json: page }
  },
})

/** The objects that other systems have written into the bucket. */
export const FOREIGN_OBJECTS = [listForeignObjects]

/** A list does not read the bytes of the objects, so the type in the URL is that of the extension. */
function urlOf(key: string, { baseUrl, token }: { baseUrl: string; token: string }): string | null {
  const [, extension = ''] = /\.([A-Za-z0-9]+)$/.exec(key) ?? []
  const group = formatOfExtension(extension.toLowerCase())?.group
  return group === undefined ? null : `${baseUrl}/v1/${group}/foreign/${token}/${encodedPath(key)}`
}
