import { step } from './step.ts'

// See `step.ts` for the keys, the arguments and the functions of all steps.

/** ARGV: ref, derivative, instant, {@link scoreOfHeld} for a held use or else 0. */
export const noteUse = step(`
local entry = redis.call('HGET', file, ARGV[2])
if state_of(entry) ~= 'stored' then return end
local held = tonumber(ARGV[4])
local before = tonumber(redis.call('ZSCORE', uses, ARGV[2]) or 0)
local at = math.max(tonumber(ARGV[3]), before % ${scoreOfHeld()})
local score = math.max(held, before >= ${scoreOfHeld()} and ${scoreOfHeld()} or 0) + at
enter(ARGV[2], entry, string.format('%.0f', score))
`)

/** ARGV: ref, derivative, deadline. @returns 1, or 0 when it is not stored, or its original is neither stored nor trashed */
export const beginEviction = step(`
if not lists[state_of(original()) or ''] then return 0 end
if state_of(redis.call('HGET', file, ARGV[2])) ~= 'stored' then return 0 end
set_derivative(ARGV[2], 'pending ' .. ARGV[3])
redis.call('ZADD', unsettled, ARGV[3], ref .. '\\n' .. ARGV[2])
return 1
`)

/** ARGV: ref. */
export const countDerivatives = step(`
each_derivative(function(key, entry)
  if state_of(entry) == 'stored' and not redis.call('ZSCORE', uses, key) then enter(key, entry, 0) end
end)
`)

/** ARGV: ref. @returns a flat list with key, bytes and score of each stored derivative */
export const usesOf = step(`
local found = {}
each_derivative(function(key, entry)
  if state_of(entry) ~= 'stored' then return end
  found[#found + 1] = key
  found[#found + 1] = string.format('%.0f', bytes_of(entry))
  found[#found + 1] = redis.call('ZSCORE', uses, key) or '0'
end)
return found
`)

/** Added to the score of a held derivative. It exceeds all instants until the year 33658, and a double holds the sum exactly. */
export function scoreOfHeld(): string {
  return '1000000000000000'
}
