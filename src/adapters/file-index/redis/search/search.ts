import { createHash } from 'node:crypto'
import type { ObjectKey } from '../../../../core/files/object-key.ts'
import type { FileLists } from '../../../../core/ports/file-index.ts'
import type { FileSearch, Findable, SearchTerm } from '../../../../core/ports/index/file-search.ts'
import type { RedisConnection } from '../../../redis/connection.ts'
import { redisScript } from '../../../redis/script.ts'
import { listed, positionOf } from '../../positions.ts'
import { oneLine, searchTexts } from '../../search-terms.ts'
import { originalEntry } from '../entries.ts'
import { nameOf, ownerOf } from '../names.ts'
import { readKeys } from './keys.ts'
import { BLOCK, DIGEST_DIGITS, NUMBER_BYTES, NUMBER_FIELD } from './lua.ts'
import { intersection, SIZE_OF, TRIGRAM, trigramsOf } from './postings.ts'

// More terms of a long text find few files less.
const TERMS_MAX = 32
const POSTINGS_MAX = 6
// In the shortest postings of all blocks. If they have more, the text is too frequent.
const NUMBERS_MAX = 262_144
const READ_MAX_BYTES = 1024 * 1024
// To compare a file takes as long as to read this part of a posting. A short one is always worth it.
const FILE_BYTES = 300
const WORTH_BYTES = 2048

/** The key of a client's search, as `lua.ts` describes it. */
export function searchKey(keyPrefix: string, clientId: string): string {
  return `${keyPrefix}search:${ownerOf(clientId)}`
}

/** The texts of an original as scripts take them. */
export function searchText(record: Findable): string {
  return searchTexts(record).join('\n')
}

/** The search of originals, in Redis. */
export function redisSearch(
  redis: RedisConnection,
  { keyPrefix }: { keyPrefix: string },
): Omit<FileSearch, 'canSearch'> & Pick<FileLists, 'pick'> {
  const hashOf = (clientId: string, key: ObjectKey) => `${keyPrefix}file:${nameOf({ clientId, key })}`
  return {
    async search(clientId, term, { most }) {
      const search = searchKey(keyPrefix, clientId)
      const terms = termsOf(term)
      const blocks =
        terms && ((await sizesOf(redis, [search], [NUMBERS_MAX, most, ...terms])) as Sizes[] | null)
      if (!blocks) return undefined
      const read = await redis.send((client) =>
        Promise.all(
          chosenPostings(blocks).map(async ({ block, indexes }) => {
            const names = indexes.map((i) => postingName(search, block, terms[i] as Buffer))
            return { block, postings: await Promise.all(names.map((name) => client.getBuffer(name))) }
          }),
        ),
      )
      const numbers: number[] = []
      for (const { block, postings } of read) {
        // A block that was dropped since then has no file any more.
        if (postings.includes(null)) continue
        for (const ordinal of intersection(postings as Buffer[], { most }))
          numbers.push(block * BLOCK + ordinal)
        if (numbers.length > most) return undefined
      }
      return [...new Set((await readKeys(redis, search, numbers)).map(({ key }) => key))]
    },
    async pick(clientId, { state, by, keys }) {
      const texts = await redis.send((client) =>
        Promise.all(keys.map((key) => client.hget(hashOf(clientId, key), ''))),
      )
      return keys.flatMap((key, i) => {
        const entry = texts[i] ? originalEntry(key, texts[i]) : undefined
        return entry?.state === state ? [listed(entry, positionOf(entry.record, by))] : []
      })
    },
    async isSearchable(clientId, record) {
      const known = await redis.send((client) =>
        client.hgetBuffer(hashOf(clientId, record.key), NUMBER_FIELD),
      )
      const digest = createHash('sha1').update(searchText(record)).digest('hex').slice(0, DIGEST_DIGITS)
      return known?.subarray(NUMBER_BYTES).toString() === digest
    },
  }
}

function postingName(search: string, block: number, term: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${search}${block}:`), term])
}

/** The terms of which a file has all when it matches. Undefined for a text that is too short. */
function termsOf(term: SearchTerm): Buffer[] | undefined {
  if ('tag' in term) return [Buffer.from(`\n${oneLine(term.tag)}`)]
  const all = trigramsOf(oneLine(term.name))
  const step = Math.max(1, all.length / TERMS_MAX)
  const some = Array.from(
    { length: Math.min(all.length, TERMS_MAX) },
    (_, i) => all[Math.floor(i * step)] as Buffer,
  )
  return some.length > 0 ? some : undefined
}

/** A block with all terms, and for each posting its bytes and the number of its files. */
type Sizes = [block: number, ...sizes: Array<[bytes: number, files: number]>]

/**
 * ARGV: the maximum of files in the shortest postings of all blocks, the maximum of files that have all terms, terms.
 * @returns {@link Sizes} of the blocks that have all terms, or nil when there are more
 */
const sizesOf = redisScript(`${SIZE_OF}
local found, files, certain = {}, 0, 0
local next = redis.call('HGET', KEYS[1], 'next')
for _, block in ipairs(redis.call('HKEYS', KEYS[1])) do
  local sizes, least = { tonumber(block) }, block ~= 'next' and math.huge or 0
  local drawn = math.min(${BLOCK}, next - (sizes[1] or 0) * ${BLOCK})
  -- Each term leaves out at most the files that do not have it.
  local common = drawn
  for i = 3, #ARGV do
    if least == 0 then break end
    sizes[i - 1] = { size_of(KEYS[1] .. block .. ':' .. ARGV[i]) }
    least = math.min(least, sizes[i - 1][2])
    common = common - (drawn - sizes[i - 1][2])
  end
  if least > 0 then
    found[#found + 1] = sizes
    files, certain = files + least, certain + math.max(0, common)
    if files > tonumber(ARGV[1]) or certain > tonumber(ARGV[2]) then return false end
  end
end
return found`)

/**
 * The postings to read of each block, by the indexes of their terms: the shortest one, and those that are likely to leave out
 * files that cost more. Terms that overlap often occur together, so the others are read first.
 */
function chosenPostings(blocks: readonly Sizes[]): Array<{ block: number; indexes: number[] }> {
  let left = READ_MAX_BYTES
  return blocks.map(([block, ...sizes]) => {
    const byFiles = sizes.map(([bytes, files], i) => ({ bytes, files, i })).sort((a, b) => a.files - b.files)
    const apart: typeof byFiles = []
    for (const size of byFiles) if (apart.every(({ i }) => Math.abs(size.i - i) >= TRIGRAM)) apart.push(size)
    let expected = BLOCK
    const indexes: number[] = []
    for (const { bytes, files, i } of new Set([...apart, ...byFiles])) {
      // One that most files have leaves out few.
      const isWorth = bytes <= Math.max(WORTH_BYTES, expected * FILE_BYTES) && files <= BLOCK / 2
      if (indexes.length > 0 && (!isWorth || bytes > left)) continue
      if (indexes.push(i) === POSTINGS_MAX) break
      expected *= files / BLOCK
      left -= bytes
    }
    return { block, indexes }
  })
}
