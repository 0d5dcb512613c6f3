import { type ObjectKey, parseKey } from '../../core/files/object-key.ts'
import type { FileLists, Page } from '../../core/ports/file-index.ts'
import type { PageRequest } from '../../core/ports/index/page-request.ts'
import { hasFilters, hasKeyFilters, matchesKey } from './filters.ts'
import type { ListRequest } from './list-request.ts'

// What a request reads at most when its filters match few files: 60 to 120 ms of one Redis, and more of this process.
export const WORK_MAX = 30_000
// A list by key has the keys themselves. In other lists, each key is read on its own, and a record takes as long as some keys.
const KEY_WORK = 1
const LISTED_KEY_WORK = 0.5
const RECORD_WORK = 3
// Records, and keys, to read without a pause for other requests. With fewer keys, the calls of many partitions cost more than these.
const RECORDS = 250
const KEYS = 2500

/**
 * Reads a list of the index in parts, until its end or the maximum for one request. The parts have files whose key matches the
 * filters; compare their records too.
 *
 * @param wanted the number of files that the next part should have
 */
export async function* listPages(
  index: Pick<FileLists, 'page' | 'directKeys' | 'pick'>,
  request: ListRequest,
  wanted: () => number,
): AsyncGenerator<Page> {
  const { client, state, by, direction, folder, signal } = request
  const prefix: Pick<PageRequest, 'prefix'> = folder !== '' && by === 'key' ? { prefix: `${folder}/` } : {}
  const matches = (key: ObjectKey) => {
    const name = parseKey(key)
    return name !== undefined && matchesKey(name, request)
  }
  const keyWork = by === 'key' ? LISTED_KEY_WORK : KEY_WORK
  let { after } = request
  let passed = 0
  let found = 0
  for (let work = 0; work < WORK_MAX; ) {
    signal.throwIfAborted()
    const position: Pick<PageRequest, 'after'> = after === undefined ? {} : { after }
    let page: Page
    if (request.isDirect && by === 'key') {
      const limit = Math.min(RECORDS, wanted())
      const keys = await index.directKeys(client.id, { state, folder, direction, ...position, limit })
      const files = await index.pick(client.id, { state, by, keys: keys.filter(matches) })
      page = { files, next: keys.length < limit ? undefined : keys.at(-1) }
      work += keys.length * keyWork + files.length * RECORD_WORK
    } else if (hasKeyFilters(request)) {
      // As many keys as have the wanted number of files, if the next keys match as often as those before.
      const guess = passed === 0 ? wanted() : Math.ceil((wanted() * passed) / Math.max(1, found))
      const limit = Math.min(KEYS, Math.max(RECORDS, guess))
      page = await index.page(client.id, { state, by, direction, limit, matches, ...prefix, ...position })
      passed += limit
      work += (page.looked ?? limit) * keyWork + page.files.length * RECORD_WORK
    } else {
      const limit = hasFilters(request) ? RECORDS : Math.min(RECORDS, wanted())
      page = await index.page(client.id, { ...{ state, by, direction, limit }, ...position })
      work += limit * RECORD_WORK
    }
    found += page.files.length
    yield page
    after = page.next
    if (after === undefined) return
  }
}
