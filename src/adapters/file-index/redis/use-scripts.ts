import { redisScript } from '../../redis/script.ts'
import { HELD, SUM_FIELD } from './entries/derivatives.ts'
import { PLACES } from './lists/lua.ts'
import { step } from './step.ts'

// See `step.ts` for the keys, the arguments and the functions of all steps.

/** ARGV: ref, derivative, instant, {@link HELD} for a held use or else 0. */
export const noteUse = step(`
local entry = redis.call('HGET', file, ARGV[2])
if state_of(entry) ~= 'stored' then return end
local held, before = tonumber(ARGV[4]), use_of(entry)
local at = math.max(tonumber(ARGV[3]), before % ${HELD})
local use = math.max(held, before >= ${HELD} and ${HELD} or 0) + at
if use == before then return end
local used = stored_derivative(use, derivative_body(entry))
local was_counted = remove_member(uses, use_member(ARGV[2], entry)) == 1
redis.call('HSET', file, ARGV[2], used)
if was_counted then add_member(uses, use_member(ARGV[2], used)) else enter(ARGV[2], used) end
`)

/** ARGV: ref, derivative, deadline. @returns 1, or 0 when it is not stored, or its original is neither stored nor trashed */
export const beginEviction = step(`
if not lists[state_of(original()) or ''] then return 0 end
if state_of(redis.call('HGET', file, ARGV[2])) ~= 'stored' then return 0 end
set_derivative(ARGV[2], pending(ARGV[3]))
redis.call('ZADD', unsettled, ARGV[3], ref .. '\\n' .. ARGV[2])
return 1
`)

/** ARGV: ref. */
export const countDerivatives = step(`
each_derivative(function(name, entry)
  if state_of(entry) == 'stored' then enter(name, entry) end
end)
`)

/** ARGV: ref. @returns a flat list with name, bytes and score of each stored derivative */
export const usesOf = step(`
local found = {}
each_derivative(function(name, entry)
  if state_of(entry) ~= 'stored' then return end
  found[#found + 1] = name
  found[#found + 1] = string.format('%.0f', bytes_of(entry))
  found[#found + 1] = string.format('%.0f', use_of(entry))
end)
return found
`)

/** KEYS: the bytes of the client, the hash with the short and the one with the long name of an original. ARGV: its key. @returns both sums as texts */
export const derivedBytes = redisScript(`${PLACES}
local original = redis.call('HGET', chosen(KEYS[2], KEYS[3], ARGV[1]), '${SUM_FIELD}')
return { redis.call('GET', KEYS[1]) or '0', original or '0' }`)
