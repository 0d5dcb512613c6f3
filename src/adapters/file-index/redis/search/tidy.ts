import type { RedisConnection } from '../../../redis/connection.ts'
import { redisScript } from '../../../redis/script.ts'
import { ifReadable } from '../entries/packed.ts'
import { joined, PIECES } from '../entries/pieces.ts'
import type { KeyNames } from '../keys.ts'
import { fieldsIn, keyAt } from '../lists/originals.ts'
import { keyWith } from '../lists/places.ts'
import { moveNumber } from '../scripts.ts'
import { BLOCK, GROUP, WASTE } from './lua.ts'
import { readPlaces } from './places.ts'
import { sealed } from './postings.ts'
import { textsIn } from './search.ts'

const BLOCKS_AT_ONCE = 64
// Postings or files at a time. A posting has 128 KB at most, and few of them have so many.
const AT_ONCE = 128
const GROUPS_AT_ONCE = 64

/** How much a call may do. */
interface Budget {
  signal?: AbortSignal | undefined
  /** Scripts that write. */
  left: number
}

/** A block by the key of its client's search. */
interface Block {
  search: string
  block: number
}

/**
 * Frees memory of the search: seals the postings of full blocks, gives the files of a block that has few of them numbers in the
 * newest block, and drops blocks without files. A search during this call finds the files by their new numbers, see `search.ts`.
 *
 * @param options.most the number of scripts that write, at most. A block that is sealed may take more
 * @returns how many there were
 * @throws Problem 503 when blocks failed, after all others
 */
export async function tidySearch(
  redis: RedisConnection,
  names: KeyNames,
  { signal, most }: { signal?: AbortSignal | undefined; most: number },
): Promise<number> {
  const budget: Budget = { signal, left: most }
  const seen = new Set<string>()
  const errors: unknown[] = []
  while (!isOver(budget)) {
    const some = await redis.send((client) => client.srandmember(names.untidy, BLOCKS_AT_ONCE))
    const members = some.filter((member) => !seen.has(member))
    if (members.length === 0) break
    for (const member of members) {
      if (isOver(budget)) break
      seen.add(member)
      await tidyBlock(redis, { member, names, budget }).catch((error) => errors.push(error))
    }
  }
  if (errors.length > 0) throw errors[0]
  return most - budget.left
}

function isOver({ signal, left }: Budget): boolean {
  return signal?.aborted === true || left <= 0
}

async function tidyBlock(
  redis: RedisConnection,
  { member, names, budget }: { member: string; names: KeyNames; budget: Budget },
): Promise<void> {
  const [, search = '', number = ''] = /^(.*\/)(\d+)$/.exec(member) ?? []
  const one = { search, block: Number(number) }
  const state = await closeIfWaste(redis, [search, names.untidy], [one.block, 0])
  if (state === 'full') await seal(redis, one, { names, budget })
  if (state !== 'waste') return
  const groups = await drop(redis, one, { names, budget })
  if (groups.length === 0) return
  await move(redis, { ...one, groups }, { names, budget })
  await drop(redis, one, { names, budget })
}

type Options = { names: KeyNames; budget: Budget }

/** @returns the groups with the places of files. Only a block without files is dropped */
async function drop(
  redis: RedisConnection,
  { search, block }: Block,
  { names, budget }: Options,
): Promise<readonly number[]> {
  while (!isOver(budget)) {
    const state = (await dropTerms(redis, [search, names.untidy], [block, AT_ONCE])) as 'more' | number[]
    if (state !== 'more') return state
    budget.left -= 1
  }
  return []
}

async function move(
  redis: RedisConnection,
  { search, groups }: Block & { groups: readonly number[] },
  { names, budget }: Options,
): Promise<void> {
  const clientId = decodeURIComponent(search.slice(`${names.prefix}search:`.length, -1))
  for (let from = 0; from < groups.length; from += GROUPS_AT_ONCE) {
    const numbers = groups
      .slice(from, from + GROUPS_AT_ONCE)
      .flatMap((group) => Array.from({ length: GROUP }, (_, i) => group * GROUP + i))
    const known = await readPlaces(redis, search, numbers)
    for (let first = 0; first < known.length; first += AT_ONCE) {
      if (isOver(budget)) return
      const some = known.slice(first, first + AT_ONCE)
      const entries = await fieldsIn(redis, ...PIECES)(some.map(({ place }) => names.hashAt(clientId, place)))
      budget.left -= some.length
      await Promise.all(
        some.map(({ number, place }, i) => {
          const { rest, values } = entries[i] ?? {}
          const entry = joined(values)
          // Without a hash, each key with this id has the same place.
          const key = keyAt(place, rest) ?? keyWith('id' in place ? place.id : '', 'lost/.lost')
          const ref = { clientId, key }
          const texts = ifReadable(() => textsIn(key, entry)) ?? ''
          const args = [names.nameOf(ref), number, entry ?? '', texts]
          return moveNumber(redis, names.keys(ref), args)
        }),
      )
    }
  }
}

/**
 * Seals the postings of a full block, which do not change any more until it is dropped. Short ones have the same bytes as
 * before, but take half of the memory, since APPEND reserves as much again.
 */
async function seal(
  redis: RedisConnection,
  { search, block }: Block,
  { names: { untidy }, budget }: Options,
): Promise<void> {
  const prefix = Buffer.from(`${search}${block}:`)
  for (let from = 0; ; from += AT_ONCE) {
    if (budget.signal?.aborted) return
    const terms = await redis.send((client) =>
      client.lrangeBuffer(`${search}terms:${block}`, from, from + AT_ONCE - 1),
    )
    if (terms.length === 0) break
    const names = terms.map((term) => Buffer.concat([prefix, term]))
    const postings = await redis.send((client) => Promise.all(names.map((name) => client.getBuffer(name))))
    budget.left -= terms.length
    await Promise.all(
      names.map(async (name, i) => {
        const posting = postings[i]
        if (posting) await replace(redis, [search, name], [block, posting.length, sealed(posting)])
      }),
    )
  }
  await closeIfWaste(redis, [search, untidy], [block, 1])
}

/**
 * KEYS: search, untidy. ARGV: block, 1 when its postings are sealed, or else 0. A block of `waste` gets no numbers any more. The first
 * write takes no memory, so a full Redis does not refuse it. @returns `waste` or `full`, or nil when the block needs no work
 */
const closeIfWaste = redisScript(`
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
return 'waste'`)

/**
 * KEYS: search, untidy. ARGV: block, maximum. Drops postings of a block that gets no numbers any more, and at last the block.
 * @returns `more` when postings remain. Otherwise the groups with places: it is dropped without any
 */
const dropTerms = redisScript(`
local search, block, most = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
if redis.call('HEXISTS', search, block) == 0 or redis.call('HGET', search, 'next') - block * ${BLOCK} < ${BLOCK} then return {} end
local places, groups, first = {}, {}, block * ${BLOCK / GROUP}
for group = first, first + ${BLOCK / GROUP - 1} do places[#places + 1] = search .. 'places:' .. group end
if redis.call('EXISTS', unpack(places)) > 0 then
  for i, key in ipairs(places) do if redis.call('EXISTS', key) == 1 then groups[#groups + 1] = first + i - 1 end end
  return groups
end
local terms, postings = search .. 'terms:' .. block, {}
for _, term in ipairs(redis.call('LRANGE', terms, 0, most - 1)) do postings[#postings + 1] = search .. block .. ':' .. term end
if postings[1] then
  redis.call('UNLINK', unpack(postings))
  redis.call('LTRIM', terms, most, -1)
  return 'more'
end
redis.call('HDEL', search, block)
redis.call('SREM', KEYS[2], search .. block)
-- Without numbers in any block, the client can begin with the first one again.
if redis.call('HLEN', search) == 1 then redis.call('DEL', search) end
return {}`)

/**
 * KEYS: search, posting. ARGV: block, bytes of the posting, new posting. Does nothing when the block is not full or the posting
 * differs. The first write takes no memory.
 */
const replace = redisScript(`
local next = redis.call('HGET', KEYS[1], 'next')
if not next or next - ARGV[1] * ${BLOCK} < ${BLOCK} or redis.call('STRLEN', KEYS[2]) ~= tonumber(ARGV[2]) then return end
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[2], ARGV[3])`)
