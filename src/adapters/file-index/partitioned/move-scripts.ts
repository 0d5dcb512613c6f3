import { redisScript } from '../../redis/script.ts'
import { step } from '../redis/step.ts'

// Steps that move a file from one partition to another, see `redis/step.ts` for the keys and the functions. Each may be repeated.

/**
 * The beginning of each step. KEYS[FIRST + 1] is the division of the client, in its first partition. All moves are from this partition
 * or to it. There, a step does nothing when its move has ended, and returns 0. It is refused with -1 when the client has another
 * division: so an old move never removes a file. In other partitions, there is no such key, and the expected division is empty.
 */
const ofThisMove = (expected: string) => `
if ${expected} ~= '' then
  local known = redis.call('GET', KEYS[FIRST + 1])
  if known ~= ${expected} then return known == string.match(${expected}, '>(%d+)@') and 0 or -1 end
end
`

/**
 * Reads a file. ARGV: ref, expected division.
 * @returns a flat list with the name of each field, its value, the score of its use and the instant at which it is overdue, both empty
 *   where there is no such score. The original has the empty name
 */
export const readFile = step(`
${ofThisMove('ARGV[2]')}
local found = {}
local all = redis.call('HGETALL', file)
for i = 1, #all, 2 do
  local name = all[i]
  found[#found + 1] = name
  found[#found + 1] = all[i + 1]
  found[#found + 1] = redis.call('ZSCORE', uses, name) or ''
  found[#found + 1] = redis.call('ZSCORE', unsettled, name == '' and ref or ref .. '\\n' .. name) or ''
end
return found
`)

/**
 * Adds a file as {@link readFile} has returned it. KEYS[FIRST + 2] is the set of the files that this move has added. A file in
 * it is not added again: it may have been deleted since then. So the set must exist for as long as a process may have an old copy.
 *
 * ARGV: ref, expected division, search texts, seconds for which the set exists, then the list. @returns 1, also when it was added before
 */
export const addFile = step(`
${ofThisMove('ARGV[2]')}
local added = KEYS[FIRST + 2]
local is_new = redis.call('SADD', added, (string.match(ref, '^[^/]*/(.*)$'))) == 1
redis.call('EXPIRE', added, ARGV[4])
if not is_new or original() then return 1 end
for i = 5, #ARGV, 4 do
  local name, entry, use, due = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  if name == '' then set(entry, file, ref, ARGV[3])
  else set_derivative(name, entry, use == '' and '0' or use) end
  if due ~= '' then redis.call('ZADD', unsettled, due, name == '' and ref or ref .. '\\n' .. name) end
end
return 1
`)

/** Removes a file that is in another partition now. ARGV: ref, expected division. */
export const dropFile = step(`
${ofThisMove('ARGV[2]')}
local entry = original()
if not entry then return end
delist(ref, entry)
leave_search((string.match(ref, '^[^/]*/(.*)$')))
each_derivative(function(name) redis.call('ZREM', unsettled, ref .. '\\n' .. name) end)
forget()
`)

/**
 * The division of a client, and for how many milliseconds its move has not begun; negative when it has begun.
 * KEYS: the division, the key that expires when the move begins. ARGV: the division to store for a new client; empty: none, and it is
 * returned as empty.
 */
export const readDivision = redisScript(`
local known = redis.call('GET', KEYS[1])
if not known then
  known = ARGV[1]
  if known ~= '' then redis.call('SET', KEYS[1], known) end
end
return { known, redis.call('PTTL', KEYS[2]) }
`)

/** KEYS: as {@link readDivision}. ARGV: the current division, the new one, milliseconds until it begins. @returns 1, or 0 when it differs */
export const beginMove = redisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('SET', KEYS[2], '', 'PX', ARGV[3])
return 1
`)

/** KEYS: the division. ARGV: the current one, the new one. @returns 1, or 0 when the current one differs */
export const endMove = redisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
`)
