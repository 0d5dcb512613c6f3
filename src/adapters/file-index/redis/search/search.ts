import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ObjectKey } from '../../../../core/files/object-key.ts'
import type { FileSearch, Findable, SearchTerm } from '../../../../core/ports/index/file-search.ts'
import { SearchAllowance } from '../../../../core/ports/index/search-allowance.ts'
import type { RedisConnection } from '../../../redis/connection.ts'
import { redisScript } from '../../../redis/script.ts'
import { oneLine, searchTexts } from '../../search-terms.ts'
import { originalEntry } from '../entries/originals.ts'
import { type KeyNames, searchKey } from '../keys.ts'
import { fieldsIn, keysAt, readHashes } from '../lists/originals.ts'
import { BLOCK, DIGEST_BYTES, NUMBER_BYTES, NUMBER_FIELD } from './lua.ts'
import { readPlaces, readPlacesSince } from './places.ts'
import { intersection, SIZE_OF, TRIGRAM, trigramsOf } from './postings.ts'

// Further terms of a long text rarely leave out more files.
const TERMS_MAX = 8
const POSTINGS_MAX = 6
// Redis counts the terms of so many blocks in about 0.5 ms.
const BLOCKS_AT_ONCE = 64
// What a search reads of its postings, for each file that it may find. If the shortest ones have more numbers, the text is too
// frequent. A client in several partitions has these limits in each of them, but a smaller maximum of files, and one allowance.
const NUMBERS_PER_FILE = 26
const NUMBERS_LEAST = 4096
const BYTES_PER_FILE = 104
const BYTES_LEAST = 16_384
// To compare a file takes as long as to read this part of a posting. A short one is always worth it.
const FILE_BYTES = 300
const WORTH_BYTES = 2048

/** The texts of an original as scripts take them. */
export function searchText(record: Findable): string {
  return searchTexts(record).join('\n')
}

/** The texts of an original by its entry. Empty for one without a record. */
export function textsIn(key: ObjectKey, entry: Buffer | undefined): string {
  const known = entry ? originalEntry(key, entry) : undefined
  return known && 'record' in known ? searchText(known.record) : ''
}

/** The search of originals, in Redis. */
export function redisSearch(redis: RedisConnection, names: KeyNames): Omit<FileSearch, 'canSearch'> {
  const { prefix } = names
  return {
    /**
     * In the meantime, a file may be given another number: with a new name, or by `tidy.ts`. So the files of all
     * numbers that were drawn since the beginning are candidates.
     */
    async search(clientId, term, { most, allowance = new SearchAllowance(most) }) {
      const search = searchKey(prefix, clientId)
      const terms = termsOf(term)
      if (!terms) return undefined
      const { next = 0, ...living } = await redis.send((client) => client.hgetall(search))
      const blocks = await countedBlocks(Object.keys(living).map(Number), {
        most,
        next: Number(next),
        sizesIn: async (some) =>
          (await sizesOf(redis, [search], [some.length, ...some, ...terms])) as Sizes[],
      })
      if (
        !blocks ||
        !allowance.takeTerms(blocks.reduce((sum, one) => sum + fewest(one), 0) / NUMBERS_PER_FILE)
      )
        return undefined
      const chosen = chosenPostings(blocks, { most, allowance })
      const read = await redis.send((client) =>
        Promise.all(
          chosen.map(async ({ block, indexes }) => {
            const names = indexes.map((i) => postingName(search, block, terms[i] as Buffer))
            return { block, postings: await Promise.all(names.map((name) => client.getBuffer(name))) }
          }),
        ),
      )
      const numbers: number[] = []
      for (const { block, postings } of read) {
        // The block was dropped: its files have other numbers.
        if (postings.includes(null)) continue
        for (const ordinal of intersection(postings as Buffer[], { most }))
          numbers.push(block * BLOCK + ordinal)
        if (numbers.length > most) return undefined
      }
      if (!allowance.takeFiles(numbers.length)) return undefined
      const known = await readPlaces(redis, search, numbers)
      const drawn = await readPlacesSince(redis, search, Number(next))
      if (!drawn) return undefined
      const found = await keysAt(redis, names, clientId, [...known.map(({ place }) => place), ...drawn])
      const keys = new Set(found.filter((key) => key !== undefined))
      return keys.size <= most ? [...keys] : undefined
    },
    async isSearchable(clientId, record) {
      const refs = [{ clientId, key: record.key }]
      const [original] = await readHashes(names, refs, fieldsIn(redis, NUMBER_FIELD))
      const digest = createHash('sha1').update(searchText(record)).digest().subarray(0, DIGEST_BYTES)
      const known = original?.found.values[0]
      if (!known?.subarray(NUMBER_BYTES).equals(digest)) return false
      const number = known.readUIntBE(0, NUMBER_BYTES)
      const [living] = await readPlaces(redis, searchKey(prefix, clientId), [number])
      return living !== undefined && isDeepStrictEqual(living.place, original?.place)
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

/** KEYS: search. ARGV: number of blocks, blocks, terms. @returns {@link Sizes} of the blocks that have all terms */
const sizesOf = redisScript(`${SIZE_OF}
local found, blocks = {}, tonumber(ARGV[1])
for b = 2, blocks + 1 do
  local sizes = { tonumber(ARGV[b]) }
  for t = blocks + 2, #ARGV do
    local bytes, files = size_of(KEYS[1] .. ARGV[b] .. ':' .. ARGV[t])
    if bytes == 0 then break end
    sizes[#sizes + 1] = { bytes, files }
  end
  if #sizes == #ARGV - blocks then found[#found + 1] = sizes end
end
return found`)

/** The numbers in the shortest posting of a block. */
function fewest([, ...sizes]: Sizes): number {
  return Math.min(...sizes.map(([, files]) => files))
}

/** The blocks that have all terms. Undefined when they have too many files. */
async function countedBlocks(
  blocks: readonly number[],
  {
    most,
    next,
    sizesIn,
  }: { most: number; next: number; sizesIn: (some: readonly number[]) => Promise<Sizes[]> },
): Promise<Sizes[] | undefined> {
  const found: Sizes[] = []
  let [files, certain] = [0, 0]
  for (let from = 0; from < blocks.length; from += BLOCKS_AT_ONCE)
    for (const one of await sizesIn(blocks.slice(from, from + BLOCKS_AT_ONCE))) {
      const [block, ...sizes] = one
      const counts = sizes.map((size) => size[1])
      const drawn = Math.min(BLOCK, next - block * BLOCK)
      // Each term leaves out at most the files that do not have it.
      certain += Math.max(
        0,
        counts.reduce((common, count) => common - (drawn - count), drawn),
      )
      files += fewest(one)
      if (files > Math.max(NUMBERS_LEAST, NUMBERS_PER_FILE * most) || certain > most) return undefined
      found.push(one)
    }
  return found
}

/**
 * The postings to read of each block, by the indexes of their terms: the shortest one, and those that are likely to leave out
 * files that cost more. Terms that overlap often occur together, so the others are read first.
 */
function chosenPostings(
  blocks: readonly Sizes[],
  { most, allowance }: { most: number; allowance: SearchAllowance },
): Array<{ block: number; indexes: number[] }> {
  let left = Math.min(Math.max(BYTES_LEAST, BYTES_PER_FILE * most), FILE_BYTES * allowance.extra)
  const before = left
  const chosen = blocks.map(([block, ...sizes]) => {
    const byFiles = sizes.map(([bytes, files], i) => ({ bytes, files, i })).sort((a, b) => a.files - b.files)
    const apart: typeof byFiles = []
    for (const size of byFiles) if (apart.every(({ i }) => Math.abs(size.i - i) >= TRIGRAM)) apart.push(size)
    let expected = BLOCK
    const indexes: number[] = []
    for (const { bytes, files, i } of new Set([...apart, ...byFiles])) {
      // One that most files have leaves out few.
      const isWorth = bytes <= Math.max(WORTH_BYTES, expected * FILE_BYTES) && files <= BLOCK / 2
      if (indexes.length > 0 && (!isWorth || bytes > left)) continue
      left -= bytes
      if (indexes.push(i) === POSTINGS_MAX) break
      expected *= files / BLOCK
    }
    return { block, indexes }
  })
  allowance.takeExtra((before - left) / FILE_BYTES)
  return chosen
}
