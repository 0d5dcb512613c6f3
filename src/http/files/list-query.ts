import { parseExistingFolder } from '../../core/files/object-key.ts'
import { isMediaGroup } from '../../core/media/formats.ts'
import { MEDIA_GROUPS, type MediaGroup } from '../../core/media/groups.ts'
import { type ParameterSpec, parseParameter } from '../../core/plugin-api/parameter.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import { didYouMean } from '../../core/text/did-you-mean.ts'
import { truncate } from '../../core/text/truncate.ts'
import type { ListRequest } from '../../service/files/list.ts'
import { flagOf, onlyValue, type QueryPairs } from '../request.ts'

type Sort = Pick<ListRequest, 'by' | 'direction'>

const SORTS: Readonly<Record<string, Sort>> = {
  '-uploaded': { by: 'storedAt', direction: 'down' },
  uploaded: { by: 'storedAt', direction: 'up' },
  key: { by: 'key', direction: 'up' },
  '-key': { by: 'key', direction: 'down' },
}
const NAMES = ['prefix', 'type', 'search', 'tag', 'sort', 'limit', 'cursor', 'deleted']
const LIMIT: ParameterSpec = { type: 'integer', min: 1, max: 1000, help: '' }
const DEFAULT_LIMIT = 100
const SEARCH_MAX_BYTES = 255

/** The validated query of a list. `sort` is the name of the order, as in the query. */
export interface ListQuery extends Omit<ListRequest, 'client' | 'after' | 'signal'> {
  sort: string
  /** The cursor as received, still sealed. */
  cursor: string | undefined
}

/** Parses the query of a list of files. @throws Problem 400 */
export function readListQuery(query: QueryPairs): ListQuery {
  const unknown = query.find(([name]) => !NAMES.includes(name))
  if (unknown) throw unknownParameter(unknown[0])
  const value = (name: string) => onlyValue(query, name)
  const sort = value('sort') ?? '-uploaded'
  const order = Object.hasOwn(SORTS, sort) ? SORTS[sort] : undefined
  if (!order)
    throw badParameter({ param: 'sort', expected: `one of ${Object.keys(SORTS).join(', ')}`, received: sort })
  const limit = value('limit')
  return {
    ...order,
    sort,
    state: flagOf(query, 'deleted') ? 'trashed' : 'stored',
    folder: folderIn(value('prefix')),
    group: groupOf(value('type')),
    search: searched('search', value('search')),
    tag: searched('tag', value('tag')),
    cursor: value('cursor'),
    limit: limit === undefined ? DEFAULT_LIMIT : Number(parseParameter('limit', LIMIT, limit)),
  }
}

/** The folder that the parameter `prefix` names; empty for all folders. @throws Problem 400 */
export function folderIn(prefix: string | undefined): string {
  return prefix === undefined || prefix === '' ? '' : parseExistingFolder(prefix.replace(/\/$/, ''), 'prefix')
}

function groupOf(type: string | undefined): MediaGroup | undefined {
  if (type === undefined || isMediaGroup(type)) return type
  throw badParameter({ param: 'type', expected: `one of ${MEDIA_GROUPS.join(', ')}`, received: type })
}

function searched(param: string, text: string | undefined): string | undefined {
  if (text === undefined || (text !== '' && Buffer.byteLength(text) <= SEARCH_MAX_BYTES)) return text
  throw badParameter({ param, expected: `a text of 1 to ${SEARCH_MAX_BYTES} bytes`, received: text })
}

function unknownParameter(word: string): Problem {
  const param = truncate(word)
  return new Problem({
    status: 400,
    code: 'unknown_parameter',
    detail: `there is no parameter ${JSON.stringify(param)} for a list of files; there are ${NAMES.join(', ')}${didYouMean(word, NAMES)}`,
    members: { param },
  })
}
