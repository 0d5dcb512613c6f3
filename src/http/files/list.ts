import { z } from 'zod'
import { commonFolder } from '../../core/clients/secret-scope.ts'
import { parseExistingFolder } from '../../core/files/object-key.ts'
import { MEDIA_GROUPS } from '../../core/media/groups.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import { didYouMean } from '../../core/text/did-you-mean.ts'
import { truncate } from '../../core/text/truncate.ts'
import type { CountFiles } from '../../service/files/count.ts'
import type { List } from '../../service/files/list.ts'
import { InvalidPosition, type ListRequest } from '../../service/files/list-request.ts'
import { EXAMPLE_FILE } from '../documents/examples.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { replyOf } from '../endpoint/named.ts'
import { day, flag, oneOf, pageOf, type QueryParameter, text } from '../endpoint/query.ts'
import { fileToWire } from '../wire/file-details.ts'
import { file } from '../wire/record.ts'
import { cursorOf, invalidCursor, nextCursor, positionOf } from './cursor.ts'
import { type FileServices, placeOf } from './file.ts'

/** The services that handle these requests. */
export interface Services extends FileServices {
  list: List
  count: CountFiles
  /** 32 bytes, the key that seals cursors. */
  cursorKey: Buffer
}

type Sort = Pick<ListRequest, 'by' | 'direction'>

const SORTS: ReadonlyMap<string, Sort['by']> = new Map([
  ['uploaded', 'storedAt'],
  ['created', 'storedAt'],
  ['key', 'key'],
  ['name', 'name'],
  ['size', 'size'],
])
const SORT_NAMES = [...SORTS.keys()].flatMap((name) => [name, `-${name}`])
const DIRECTIONS = { asc: 'up', desc: 'down' } as const
const SEARCH_MAX_BYTES = 255
const DAY_MS = 86_400_000
const FILTERS = ['type', 'search', 'tag', 'from', 'to'] as const

const fileList = replyOf(
  'FileList',
  'A page of a list of files. It may have fewer than `limit`, or none, and still not be the last one: see `cursor`.',
  {
    files: z.array(file),
    cursor: nextCursor,
    total: z.int().describe('Number of files in all pages. Only with `count=1`.').optional(),
  },
)

const QUERY = {
  prefix: text('Only files in this folder and its subfolders.'),
  direct: flag('Only files in the folder itself, not in its subfolders.'),
  type: oneOf(MEDIA_GROUPS, 'Only files of this type.'),
  search: searched('Only files with this text in their name.'),
  tag: searched('Only files with this tag.'),
  from: day('Only files stored on this day or later, in UTC.'),
  to: day('Only files stored on this day or earlier, in UTC.'),
  sort: {
    ...text('Order of the files.'),
    schema: { type: 'string', enum: SORT_NAMES, default: '-uploaded' },
  } satisfies QueryParameter<string | undefined>,
  order: {
    ...text('Direction of the order, instead of a hyphen in `sort`.'),
    schema: { type: 'string', enum: Object.keys(DIRECTIONS) },
  } satisfies QueryParameter<string | undefined>,
  ...pageOf('files'),
  count: flag('The number of files in all pages. Not together with `type`, `tag`, `search`, `from` or `to`.'),
  deleted: flag('Deleted files that can be restored, instead of stored files.'),
}

export const listFiles = endpoint({
  route: 'GET /v1/files',
  id: 'listFiles',
  tag: 'Files',
  summary: 'List files',
  access: { secret: 'read' },
  query: QUERY,
  refuseOther: unknownParameter,
  responses: { 200: json(fileList, 'A page of the list.') },
  problems: ['400 bad_path', '400 unknown_parameter'],
  examples: [
    {
      id: 'newest',
      summary: 'The newest image',
      parameters: { type: 'image', limit: '1' },
      status: 200,
      response: { files: [EXAMPLE_FILE], cursor: null },
    },
  ],

  async handle({ list, count, cursorKey, ...services }: Services, { caller, query, signal }) {
    const { client } = caller
    const { search, tag, type: group, cursor, limit, direct: isDirect } = query
    const order = sortOf(query.sort, query.order)
    const filter = FILTERS.find((name) => query[name] !== undefined)
    if (query.count && filter !== undefined)
      throw badParameter({
        param: 'count',
        expected: `no ${FILTERS.slice(0, -1).join(', ')} or ${FILTERS.at(-1)} in the same request`,
        received: filter,
      })
    const prefix = folderIn(query.prefix)
    const place = { ...caller, sort: `${order.direction} ${order.by}`, key: cursorKey }
    const after = positionOf(cursor, place)
    const common = commonFolder(prefix, caller.folder ?? '')
    // A secret for a subfolder sees no file of the folder itself.
    const folder = isDirect && common !== prefix ? undefined : common
    const state = query.deleted ? 'trashed' : 'stored'
    const requested = { client, state, ...order, isDirect, group, search, tag, ...daysOf(query) } as const
    const { files, next } =
      folder === undefined
        ? { files: [], next: undefined }
        : await list({ ...requested, folder, after, limit, signal }).catch((error) => {
            throw error instanceof InvalidPosition ? invalidCursor(cursor ?? '') : error
          })
    const total = query.count ? await count({ client, state, isDirect, folder, signal }) : undefined
    const page: z.input<typeof fileList> = {
      files: files.map((one) => fileToWire(one, placeOf(caller, services))),
      cursor: cursorOf(next, place),
      ...(total === undefined ? {} : { total }),
    }
    return { json: page }
  },
})

/** Parses an order: a name, with its direction as `-` before it or as `order`. Without both, the newest files come first. */
function sortOf(received: string | undefined, order: string | undefined): Sort {
  const name = received?.replace(/^-/, '') ?? 'uploaded'
  const by = SORTS.get(name)
  if (!by) throw badParameter({ param: 'sort', expected: `one of ${SORT_NAMES.join(', ')}`, received })
  const isReversed = received?.startsWith('-') ?? order === undefined
  if (order === undefined) return { by, direction: isReversed ? 'down' : 'up' }
  if (!isReversed && (order === 'asc' || order === 'desc')) return { by, direction: DIRECTIONS[order] }
  const expected = isReversed
    ? `no order next to sort=${received}`
    : `one of ${Object.keys(DIRECTIONS).join(', ')}`
  throw badParameter({ param: 'order', expected, received: order })
}

/** The folder that the parameter `prefix` names; empty for all folders. @throws Problem 400 */
export function folderIn(prefix: string | undefined): string {
  return prefix === undefined || prefix === '' ? '' : parseExistingFolder(prefix.replace(/\/$/, ''), 'prefix')
}

/** The days of `from` and `to`, both inclusive, in UTC. */
function daysOf({
  from,
  to,
}: {
  from: string | undefined
  to: string | undefined
}): Pick<ListRequest, 'storedFrom' | 'storedBefore'> {
  if (from !== undefined && to !== undefined && from > to)
    throw badParameter({ param: 'from', expected: 'a day not after to', received: from })
  return {
    storedFrom: from === undefined ? undefined : Date.parse(from),
    storedBefore: to === undefined ? undefined : Date.parse(to) + DAY_MS,
  }
}

function searched(description: string): QueryParameter<string | undefined> {
  return {
    description,
    schema: { type: 'string', minLength: 1, maxLength: SEARCH_MAX_BYTES },
    read(received, param) {
      if (received === undefined || (received !== '' && Buffer.byteLength(received) <= SEARCH_MAX_BYTES))
        return received
      throw badParameter({ param, expected: `a text of 1 to ${SEARCH_MAX_BYTES} bytes`, received })
    },
  }
}

function unknownParameter(word: string): Problem {
  const [param, names] = [truncate(word), Object.keys(QUERY)]
  return new Problem({
    status: 400,
    code: 'unknown_parameter',
    detail: `there is no parameter ${JSON.stringify(param)} for a list of files; there are ${names.join(', ')}${didYouMean(word, names)}`,
    members: { param },
  })
}
