import { SUM_FIELD } from './entries/derivatives.ts'
import { NUMBER_FIELD } from './search/lua.ts'
import { step } from './step.ts'

// See `step.ts` for the keys, the arguments and the functions of all steps.

/** ARGV: ref, lease. @returns 1, or 0 when the index already has an entry */
export const beginUpload = step(`
if original() then return 0 end
set(pending(ARGV[2]))
redis.call('ZADD', unsettled, ARGV[2], ref)
return 1
`)

/** Several originals. ARGV: refs, lease. */
export const renewUpload = step(`
local lease = ARGV[originals + 1]
for i = 1, originals do
  local in_file, of = file_at(i)
  if is_pending(original(in_file)) then
    write_entry(in_file, pending(lease))
    redis.call('ZADD', unsettled, lease, of)
  end
end
`)

/**
 * Several originals, all or none. ARGV: refs, entry of each, search texts of each.
 * @returns 1, or 0 when one is neither pending nor stored
 */
export const finishUpload = step(`
for i = 1, originals do
  local state = state_of(original((file_at(i))))
  if state ~= 'pending' and state ~= 'stored' then return 0 end
end
for i = 1, originals do
  local in_file, of = file_at(i)
  if is_pending(original(in_file)) then
    set(ARGV[originals + i], in_file, of, ARGV[2 * originals + i])
    redis.call('ZREM', unsettled, of)
  end
end
return 1
`)

const ENLIST_KNOWN = `
local known = original()
if known then
  local key = key_of(ref)
  enlist(file, key, known)
  if lists[state_of(known)] and is_found_alike(known, ARGV[2]) then enter_search(file, place_of(file, key), ARGV[3]) end
end
`

/** ARGV: ref, entry, search texts. */
export const enlist = step(ENLIST_KNOWN)

/** ARGV: ref, entry, search texts. @returns the entry after this step */
export const adopt = step(
  `
${ENLIST_KNOWN}
if known then return known end
local entry = ARGV[2]
if state_of(entry) == 'trashed' then redis.call('ZADD', unsettled, instant_of(entry), ref) end
set(entry, file, ref, ARGV[3])
return entry
`,
  { replies: 'bytes' },
)

/** ARGV: ref, current body, new entry, new search texts, whether the tag remains. @returns 1, or 0 when the current body differs */
export const amend = step(`
local known = original()
if state_of(known) ~= 'stored' or body_of(known) ~= ARGV[2] then return 0 end
set(ARGV[5] == '1' and retagged(ARGV[3], known) or ARGV[3], file, ref, ARGV[4])
return 1
`)

/** ARGV: ref, the entry with its new tag. @returns 1, or 0 when the current entry differs in more than its tag */
export const noteRecordTag = step(`
if retagged(original(), ARGV[2]) ~= ARGV[2] then return 0 end
write_entry(file, ARGV[2])
return 1
`)

/** ARGV: ref, until, at. @returns the names of all derivatives, or nil when the original is not stored */
export const trash = step(`
local known = original()
if state_of(known) ~= 'stored' then return false end
set(trashed(ARGV[2], ARGV[3], body_of(known)))
redis.call('ZADD', unsettled, ARGV[2], ref)
local names = {}
each_derivative(function(name) names[#names + 1] = name end)
return names
`)

/** ARGV: ref, now. @returns 1, or 0 when the original is not trashed, or its retention is over */
export const restore = step(`
local known = original()
if state_of(known) ~= 'trashed' or instant_of(known) <= tonumber(ARGV[2]) then return 0 end
set(stored(body_of(known)))
redis.call('ZREM', unsettled, ref)
return 1
`)

/**
 * ARGV: ref, derivative, deadline, maximum number of derivatives (empty: unlimited), derivatives that do not count.
 * @returns a DerivativeStart
 */
export const beginDerivative = step(`
if state_of(original()) ~= 'stored' then return 'refused' end
local limit = tonumber(ARGV[4])
-- The pieces of the original, its key, its number and the bytes of its derivatives.
local uncounted = #PIECES + 1 + redis.call('HEXISTS', file, '${NUMBER_FIELD}') + redis.call('HEXISTS', file, '${SUM_FIELD}')
for i = 5, limit and #ARGV or 4 do uncounted = uncounted + redis.call('HEXISTS', file, ARGV[i]) end
local is_full = limit and redis.call('HLEN', file) - uncounted >= limit
if is_full and redis.call('HEXISTS', file, ARGV[2]) == 0 then return 'full' end
set_derivative(ARGV[2], pending(ARGV[3]))
redis.call('ZADD', unsettled, ARGV[3], ref .. '\\n' .. ARGV[2])
return 'begun'
`)

/** ARGV: ref, derivative, entry. @returns 1, or 0 when the original is not stored */
export const finishDerivative = step(`
if state_of(original()) ~= 'stored' then return 0 end
set_derivative(ARGV[2], ARGV[3])
redis.call('ZREM', unsettled, ref .. '\\n' .. ARGV[2])
return 1
`)

/** ARGV: ref, derivative, entry, states. @returns the entry after this step, or nil when the original is in no such state */
export const adoptDerivative = step(
  `
local state, allowed = state_of(original()), false
for i = 4, #ARGV do allowed = allowed or ARGV[i] == state end
if not allowed then return false end
local known = redis.call('HGET', file, ARGV[2])
if known then return known end
set_derivative(ARGV[2], ARGV[3])
return ARGV[3]
`,
  { replies: 'bytes' },
)

/** ARGV: ref, derivative, current body, new body. @returns 1, or 0 when the current body differs, or the original is not stored */
export const amendDerivative = step(`
local known = redis.call('HGET', file, ARGV[2])
if state_of(original()) ~= 'stored' or state_of(known) ~= 'stored' or derivative_body(known) ~= ARGV[3] then return 0 end
set_derivative(ARGV[2], stored_derivative(use_of(known), ARGV[4]))
return 1
`)

/** ARGV: ref, derivative, the latest deadline to drop: an entry with a later one stays. */
export const dropDerivative = step(`
local entry = redis.call('HGET', file, ARGV[2])
if not is_pending(entry) or instant_of(entry) > tonumber(ARGV[3]) then return end
set_derivative(ARGV[2])
redis.call('ZREM', unsettled, ref .. '\\n' .. ARGV[2])
if state_of(original()) == 'gone' then
  local last = last_deadline(-math.huge)
  if last then redis.call('ZADD', unsettled, last, ref) else forget_deleted() end
end
`)

/** ARGV: ref, cause, lease, now. @returns the names of all derivatives, or nil when the state does not allow it */
export const beginRemoval = step(`
local cause, lease, now = ARGV[2], ARGV[3], tonumber(ARGV[4])
local entry = original()
local state = state_of(entry)
local allowed
if cause == 'delete' then
  allowed = state == 'stored' or state == 'going'
elseif cause == 'purge' then
  allowed = state == 'stored' or state == 'trashed' or state == 'going'
elseif cause == 'abandon' then
  allowed = state == 'pending'
elseif state == 'gone' then
  allowed = not last_deadline(now)
else
  allowed = (state == 'pending' or state == 'trashed' or state == 'going') and instant_of(entry) <= now
end
if not allowed then return false end
-- First a write that takes no memory, so that a full Redis does not refuse the step.
redis.call('ZREM', unsettled, ref)
set(going(lease))
redis.call('ZADD', unsettled, lease, ref)
local names = {}
each_derivative(function(name, derivative)
  names[#names + 1] = name
  if is_pending(derivative) then redis.call('ZREM', unsettled, ref .. '\\n' .. name) end
end)
return names
`)

/** ARGV: ref, now. @returns 1, or 0 when the original was not going */
export const finishRemoval = step(`
local now = tonumber(ARGV[2])
if state_of(original()) ~= 'going' then return 0 end
local last = last_deadline(now)
if not last then
  forget_deleted()
  return 1
end
-- As above.
redis.call('ZREM', unsettled, ref)
each_derivative(function(name, entry)
  if not is_pending(entry) or instant_of(entry) <= now then set_derivative(name) end
end)
set(GONE)
redis.call('ZADD', unsettled, last, ref)
return 1
`)

/** Gives an original another number in the search. ARGV: ref, number, entry, search texts. Does nothing when its entry has changed. */
export const moveNumber = step(`
local number, place = tonumber(ARGV[2]), place_of(file, key_of(ref))
if number_of(file) ~= number then return forget_numbers({ { number = number, place = place } }) end
if (original() or '') ~= ARGV[3] then return end
leave_search(file, place)
if lists[state_of(ARGV[3])] then draw_number(file, place, ARGV[4]) end
`)
