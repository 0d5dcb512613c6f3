import { parseExistingFolder } from '../../core/files/object-key.ts'
import { isMediaGroup } from '../../core/media/formats.ts'
import { MEDIA_GROUPS, type MediaGroup } from '../../core/media/groups.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import { didYouMean } from '../../core/text/did-you-mean.ts'
import { truncate } from '../../core/text/truncate.ts'
import type { ListRequest } from '../../service/files/list-request.ts'
import { day } from '../endpoint/query.ts'
import { flagOf, onlyValue, pageLimit, type QueryPairs } from '../request.ts'

type Sort = Pick<ListRequest, 'by' | 'direction'>

const SORTS: ReadonlyMap<string, Sort['by']> = new Map([
  ['uploaded', 'storedAt'],
  ['created', 'storedAt'],
  ['key', 'key'],
  ['name', 'name'],
  ['size', 'size'],
])
const DIRECTIONS: ReadonlyMap<string, 'up' | 'down'> = new Map([
  ['asc', 'up'],
  ['desc', 'down'],
])
const FILTERS = ['type', 'search', 'tag', 'from', 'to']
const NAMES = ['prefix', 'direct', ...FILTERS, 'sort', 'order', 'limit', 'cursor', 'count', 'deleted']
const SEARCH_MAX_BYTES = 255
const DAY_MS = 86_400_000

/** The validated query of a list. `sort` identifies the order and its direction. */
export interface ListQuery extends Omit<ListRequest, 'client' | 'after' | 'signal'> {
  sort: string
  /** The cursor as received, still sealed. */
  cursor: string | undefined
  /** Whether the response has the number of all files. */
  isCounted: boolean
}

/** Parses the query of a list of files. @throws Problem 400 */
export function readListQuery(query: QueryPairs): ListQuery {
  const unknown = query.find(([name]) => !NAMES.includes(name))
  if (unknown) throw unknownParameter(unknown[0])
  const value = (name: string) => onlyValue(query, name)
  const order = sortOf(value('sort'), value('order'))
  const isCounted = flagOf(query, 'count')
  const filter = FILTERS.find((name) => value(name) !== undefined)
  if (isCounted && filter !== undefined)
    throw badParameter({
      param: 'count',
      expected: `no ${FILTERS.slice(0, -1).join(', ')} or ${FILTERS.at(-1)} in the same request`,
      received: filter,
    })
  return {
    ...order,
    sort: `${order.direction} ${order.by}`,
    isCounted,
    state: flagOf(query, 'deleted') ? 'trashed' : 'stored',
    folder: folderIn(value('prefix')),
    isDirect: flagOf(query, 'direct'),
    group: groupOf(value('type')),
    search: searched('search', value('search')),
    tag: searched('tag', value('tag')),
    ...daysOf(query),
    cursor: value('cursor'),
    limit: pageLimit(query),
  }
}

/** Parses an order: a name, with its direction as `-` before it or as `order`. Without both, the newest files come first. */
function sortOf(received: string | undefined, order: string | undefined): Sort {
  const name = received?.replace(/^-/, '') ?? 'uploaded'
  const by = SORTS.get(name)
  if (!by) {
    const expected = `one of ${[...SORTS.keys()].flatMap((one) => [one, `-${one}`]).join(', ')}`
    throw badParameter({ param: 'sort', expected, received })
  }
  const isReversed = received?.startsWith('-') ?? order === undefined
  if (order === undefined) return { by, direction: isReversed ? 'down' : 'up' }
  const direction = DIRECTIONS.get(order)
  if (direction && !isReversed) return { by, direction }
  const expected = isReversed
    ? `no order next to sort=${received}`
    : `one of ${[...DIRECTIONS.keys()].join(', ')}`
  throw badParameter({ param: 'order', expected, received: order })
}

/** The folder that the parameter `prefix` names; empty for all folders. @throws Problem 400 */
export function folderIn(prefix: string | undefined): string {
  return prefix === undefined || prefix === '' ? '' : parseExistingFolder(prefix.replace(/\/$/, ''), 'prefix')
}

/** The days of `from` and `to`, both inclusive, in UTC. */
function daysOf(query: QueryPairs): Pick<ListRequest, 'storedFrom' | 'storedBefore'> {
  const dayIn = (name: string) => day('').read(onlyValue(query, name), name)
  const [from, to] = [dayIn('from'), dayIn('to')]
  if (from !== undefined && to !== undefined && from > to)
    throw badParameter({ param: 'from', expected: 'a day not after to', received: from })
  return {
    storedFrom: from === undefined ? undefined : Date.parse(from),
    storedBefore: to === undefined ? undefined : Date.parse(to) + DAY_MS,
  }
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
