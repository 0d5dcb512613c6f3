import { type ObjectKey, parseKey } from '../../core/files/object-key.ts'
import type { FileLists, Page } from '../../core/ports/file-index.ts'
import type { PageRequest } from '../../core/ports/index/page-request.ts'
import { hasFilters, hasKeyFilters, matchesKey } from './filters.ts'
import type { ListRequest } from './list-request.ts'

// The maxima for a request whose filters match few files: about 300 ms. A key is compared without its record, which takes about
// a tenth of the time.
const KEYS_MAX = 100_000
const RECORDS_MAX = 10_000
// Records, and keys, to read without a pause for other requests.
const RECORDS = 250
const KEYS = 1000

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
  let { after } = request
  let looked = 0
  let found = 0
  while (looked < KEYS_MAX && found < RECORDS_MAX) {
    signal.throwIfAborted()
    const position: Pick<PageRequest, 'after'> = after === undefined ? {} : { after }
    let page: Page
    if (request.isDirect && by === 'key') {
      const limit = Math.min(RECORDS, wanted())
      const keys = await index.directKeys(client.id, { state, folder, direction, ...position, limit })
      const files = await index.pick(client.id, { state, by, keys: keys.filter(matches) })
      page = { files, next: keys.length < limit ? undefined : keys.at(-1) }
      looked += keys.length
    } else if (hasKeyFilters(request)) {
      // As many keys as have the wanted number of files, if the next keys match as often as those before.
      const guess = looked === 0 ? wanted() : Math.ceil((wanted() * looked) / Math.max(1, found))
      const limit = Math.min(KEYS, Math.max(RECORDS, guess))
      page = await index.page(client.id, {
        ...{ state, by, direction, limit, matches },
        ...prefix,
        ...position,
      })
      looked += limit
    } else {
      const limit = hasFilters(request) ? RECORDS : Math.min(RECORDS, wanted())
      page = await index.page(client.id, { ...{ state, by, direction, limit }, ...position })
      looked += limit
    }
    found += page.files.length
    yield page
    after = page.next
    if (after === undefined) return
  }
}
