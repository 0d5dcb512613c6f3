import { type ObjectKey, parseKey } from '../../core/files/object-key.ts'
import type { FileLists, ListedFile } from '../../core/ports/file-index.ts'
import type { SearchTerm } from '../../core/ports/index/file-search.ts'
import { SearchAllowance } from '../../core/ports/index/search-allowance.ts'
import { folded } from '../../core/text/folded.ts'
import { matchesKey, matchesRecord } from './filters.ts'
import { WORK_MAX } from './list-pages.ts'
import type { ListRequest } from './list-request.ts'

/**
 * Finds the files of a list by the search of the index, when few files match its name or its tag, or by the keys of a folder
 * that has few files. At most one file more than the limit of the request, in the order of the list.
 *
 * @returns undefined when the request has none of them, when the search is incomplete, or when so many files match that reading
 * the list takes fewer steps
 */
export type FindFew = (request: ListRequest) => Promise<ListedFile[] | undefined>

// Finding them and reading their records takes 60 to 150 ms of Redis, as long as the longest reading of a list.
const MATCHES_MAX = 10_000
// Of a client with more files than a request reads of a list. Files of a folder have similar dates: there may be none of them in this part.
const FOLDER_MAX = 3000
// Files to look at without a pause for other requests.
const CHUNK = 250

export function createFindFew({ index }: { index: FileLists }): FindFew {
  /** The keys of all files that match, and perhaps of others. Undefined when there are too many. */
  async function candidates({ client, state, by, limit, ...filters }: ListRequest) {
    const terms = termsOf(filters)
    const hasSearch = terms.length > 0 && (await index.canSearch(client.id))
    // By key, the list itself jumps over the subfolders.
    const isInFolder = filters.isDirect === true || filters.folder !== ''
    const hasFolder = isInFolder && (by !== 'key' || hasSearch) && (await index.isCounted(client.id))
    if (!hasSearch && !hasFolder) return undefined
    const { files } = await index.folderCount(client.id, state, '')
    // Reading the list finds a match in each `files / matches` files, until it has `limit` of them. So it reads more files than
    // there are matches when these are fewer than this.
    const few = Math.min(MATCHES_MAX, Math.ceil(Math.sqrt(limit * files)))
    const fewInFolder = hasFolder && files > WORK_MAX ? Math.max(few, FOLDER_MAX) : few
    // The index compares more terms than match. Of many matches, the folder and the type may leave few.
    const hasAll = filters.folder === '' && !filters.isDirect && filters.group === undefined
    const most = hasAll ? Math.min(MATCHES_MAX, 2 * few + 1) : MATCHES_MAX
    const search = (term: SearchTerm) =>
      index.search(client.id, term, { most, allowance: new SearchAllowance(most) })
    const found = await Promise.all([
      ...(hasSearch ? terms.map(search) : []),
      hasFolder ? keysIn(client.id, { ...filters, state, most: fewInFolder }) : undefined,
    ])
    const [fewest] = found.flatMap((keys) => (keys ? [keys] : [])).sort((a, b) => a.length - b.length)
    const keys = fewest?.filter((key) => {
      const name = parseKey(key)
      return name && matchesKey(name, filters)
    })
    return keys && keys.length <= fewInFolder ? keys : undefined
  }

  /** The keys in a folder: in itself, or also below it. Undefined when there are more than `most`. */
  async function keysIn(clientId: string, { most, isDirect, state, folder }: KeysOfFolder) {
    const { files, directFiles } = await index.folderCount(clientId, state, folder)
    if ((isDirect ? directFiles : files) > most) return undefined
    const limit = most + 1
    const keys = await (isDirect
      ? index.directKeys(clientId, { state, folder, limit })
      : keysBelow(clientId, { state, folder, limit }))
    // A folder with the name of a media group shares its prefix with files in no folder, which are not counted.
    return keys.length > most ? undefined : keys
  }

  /** The first keys with the prefix of a folder. Reads no record. */
  async function keysBelow(clientId: string, { state, folder, limit }: KeysRequest) {
    // A file that moves between partitions is read twice.
    const keys = new Set<ObjectKey>()
    const matches = (key: ObjectKey) => {
      keys.add(key)
      return false
    }
    await index.page(clientId, { state, by: 'key', prefix: `${folder}/`, limit, matches })
    return [...keys]
  }

  return async (request) => {
    const { client, state, by, direction, limit, after, signal } = request
    const keys = await candidates(request)
    if (!keys) return undefined
    const order = inBytes(direction)
    const start = after === undefined ? undefined : Buffer.from(after)
    let first: Placed[] = []
    for (let from = 0; from < keys.length; from += CHUNK) {
      signal.throwIfAborted()
      const picked = await index.pick(client.id, { state, by, keys: keys.slice(from, from + CHUNK) })
      const placed = picked
        .filter(({ record }) => matchesRecord(record, request))
        .map((file) => ({ file, place: Buffer.from(file.position) }))
        .filter(({ place }) => !start || order(place, start) > 0)
      // More than these do not fit into a page, and a record may have 20 KB.
      first = [...first, ...placed].sort((a, b) => order(a.place, b.place)).slice(0, limit + 1)
    }
    return first.map(({ file }) => file)
  }
}

type KeysOfFolder = Pick<ListRequest, 'state' | 'folder' | 'isDirect'> & { most: number }
type KeysRequest = Pick<ListRequest, 'state' | 'folder' | 'limit'>

interface Placed {
  file: ListedFile
  /** The bytes of its position, by which the index sorts. */
  place: Buffer
}

function inBytes(direction: ListRequest['direction']): (one: Buffer, other: Buffer) => number {
  return direction === 'up' ? Buffer.compare : (one, other) => Buffer.compare(other, one)
}

function termsOf({ search, tag }: Pick<ListRequest, 'search' | 'tag'>): SearchTerm[] {
  return [
    ...(search === undefined ? [] : [{ name: folded(search) }]),
    ...(tag === undefined ? [] : [{ tag }]),
  ]
}
