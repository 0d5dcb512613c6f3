import type { FileRef } from '../../../../core/files/file-ref.ts'
import type { ObjectKey } from '../../../../core/files/object-key.ts'
import type { RedisConnection } from '../../../redis/connection.ts'
import { redisScript } from '../../../redis/script.ts'
import { originalEntry } from '../entries.ts'
import { refNamed } from '../names.ts'
import { moveNumber } from '../scripts.ts'
import { readKeys } from './keys.ts'
import { BLOCK, GROUP, WASTE } from './lua.ts'
import { sealed } from './postings.ts'
import { searchText } from './search.ts'

// Blocks of one call: a sweep may take some seconds.
const BLOCKS_MAX = 8
// Postings or numbers at a time. A posting has 128 KB at most, and few of them have so many.
const AT_ONCE = 128
const NUMBERS_AT_ONCE = 64 * GROUP

/** The names of the index's keys. */
export interface TidyNames {
  keyPrefix: string
  untidy: string
  /** The keys of a step on one original. */
  keys(ref: FileRef): string[]
  /** The ref as scripts use it. */
  nameOf(ref: FileRef): string
  hashOf(ref: FileRef): string
}

/** A block by the key of its client's search. */
interface Block {
  search: string
  block: number
}

/**
 * Frees memory of the search: shortens the postings of full blocks, gives the files of a block that has few of them numbers in the
 * newest block, and drops blocks without files. A block is dropped by a later call than the one that has
 * moved its files: until then, a search that has read its postings finds their keys.
 */
export async function tidySearch(redis: RedisConnection, names: TidyNames): Promise<void> {
  const members = await redis.send((client) => client.srandmember(names.untidy, BLOCKS_MAX))
  for (const member of members) {
    const [, search = '', number = ''] = /^(.*\/)(\d+)$/.exec(member) ?? []
    const one = { search, block: Number(number) }
    const state = await lookAt(redis, [search, names.untidy], [one.block, 0])
    if (state === 'empty') await drop(redis, one, names)
    else if (state === 'sparse') await move(redis, one, names)
    else if (state === 'full') await seal(redis, one, names)
  }
}

async function drop(redis: RedisConnection, { search, block }: Block, { untidy }: TidyNames): Promise<void> {
  while (await dropTerms(redis, [search, untidy], [block, AT_ONCE]));
}

async function move(redis: RedisConnection, { search, block }: Block, names: TidyNames): Promise<void> {
  const owner = search.slice(`${names.keyPrefix}search:`.length)
  const refOf = ({ key }: { key: ObjectKey }) => refNamed(owner + key)
  const end = (block + 1) * BLOCK
  for (let from = block * BLOCK; from < end; from += NUMBERS_AT_ONCE) {
    const numbers = Array.from({ length: NUMBERS_AT_ONCE }, (_, i) => from + i)
    const known = await readKeys(redis, search, numbers)
    for (let first = 0; first < known.length; first += AT_ONCE) {
      const some = known.slice(first, first + AT_ONCE)
      const texts = await redis.send((client) =>
        Promise.all(some.map((one) => client.hget(names.hashOf(refOf(one)), ''))),
      )
      await Promise.all(
        some.map((one, i) => {
          const entry = texts[i] ? originalEntry(one.key, texts[i]) : undefined
          const text = entry && 'record' in entry ? searchText(entry.record) : ''
          return moveNumber(redis, names.keys(refOf(one)), [names.nameOf(refOf(one)), one.number, text])
        }),
      )
    }
  }
}

/** The postings of a full block do not change any more, until it is dropped. */
async function seal(redis: RedisConnection, { search, block }: Block, { untidy }: TidyNames): Promise<void> {
  const prefix = Buffer.from(`${search}${block}:`)
  for (let from = 0; ; from += AT_ONCE) {
    const terms = await redis.send((client) =>
      client.lrangeBuffer(`${search}terms:${block}`, from, from + AT_ONCE - 1),
    )
    if (terms.length === 0) break
    const names = terms.map((term) => Buffer.concat([prefix, term]))
    const postings = await redis.send((client) => Promise.all(names.map((name) => client.getBuffer(name))))
    const changes = postings.flatMap((posting, i) => (posting ? [[i, posting] as const] : []))
    await Promise.all(
      changes.map(([i, posting]) =>
        replace(redis, [search, names[i] as Buffer], [block, posting.length, sealed(posting)]),
      ),
    )
  }
  await lookAt(redis, [search, untidy], [block, 1])
}

/**
 * KEYS: search, untidy. ARGV: block, 1 when its postings are sealed or else 0. From then on, a block to empty gets no numbers. Begins with
 * a write that a full Redis does not refuse. @returns `empty`, `sparse` or `full`, or nil when nothing is to do
 */
const lookAt = redisScript(`
local search, untidy, block = KEYS[1], KEYS[2], tonumber(ARGV[1])
${WASTE}
redis.call('SREM', untidy, search .. block)
local living = tonumber(redis.call('HGET', search, block))
if not living then return false end
local drawn = redis.call('HGET', search, 'next') - block * ${BLOCK}
if not is_waste(math.min(${BLOCK}, drawn), living) then
  if drawn < ${BLOCK} or ARGV[2] == '1' then return false end
  redis.call('SADD', untidy, search .. block)
  return 'full'
end
redis.call('SADD', untidy, search .. block)
if drawn < ${BLOCK} then redis.call('HSET', search, 'next', (block + 1) * ${BLOCK}) end
return living <= 0 and 'empty' or 'sparse'`)

/** KEYS: search, untidy. ARGV: block, maximum. Drops postings of a block without living numbers. @returns 1 while there are more */
const dropTerms = redisScript(`
local search, block = KEYS[1], tonumber(ARGV[1])
local living = tonumber(redis.call('HGET', search, block))
if not living or living > 0 or redis.call('HGET', search, 'next') - block * ${BLOCK} < ${BLOCK} then return 0 end
local names = {}
for _, term in ipairs(redis.call('LPOP', search .. 'terms:' .. block, ARGV[2]) or {}) do
  names[#names + 1] = search .. block .. ':' .. term
end
if names[1] then
  redis.call('UNLINK', unpack(names))
  return 1
end
local first = block * ${BLOCK / GROUP}
for group = first, first + ${BLOCK / GROUP - 1} do names[#names + 1] = search .. 'keys:' .. group end
redis.call('UNLINK', unpack(names))
redis.call('HDEL', search, block)
redis.call('SREM', KEYS[2], search .. block)
-- Without numbers in any block, the client can begin with the first one again.
if redis.call('HLEN', search) == 1 then redis.call('DEL', search) end
return 0`)

/** KEYS: search, posting. ARGV: block, bytes of the posting, new posting. Does nothing when the block is not full or the posting differs. */
const replace = redisScript(`
local next = redis.call('HGET', KEYS[1], 'next')
if not next or next - ARGV[1] * ${BLOCK} < ${BLOCK} then return end
if redis.call('STRLEN', KEYS[2]) == tonumber(ARGV[2]) then redis.call('SET', KEYS[2], ARGV[3]) end`)
