import { redisScript } from '../redis-script.ts'

/**
 * The steps of the index, one script each.
 *
 * KEYS[1] is the sorted set of what is not settled; its members are refs, `<ref>\n<derivative>` for a derivative, and
 * their scores the instant at which a sweep may take them: a lease, a deadline, the end of a trashed one's time, or a
 * tombstone's last deadline. The derivatives of an original that is on its way out are not in it: they go with it.
 *
 * KEYS[2] is a hash with how many originals the client has, and their bytes, and KEYS[3] to KEYS[8] are its lists: of those that
 * are stored and of those that are trashed, each by key, instant and digest. They are sorted sets in which all scores are 0,
 * so that they are in the order of their members' bytes: positions, see `positions.ts`.
 *
 * KEYS[9] and on are the hashes of originals, ARGV begins with their refs, in the same order. The field with the empty
 * name is the original, the others are its derivatives by key. Their values are text, of which the scripts read the
 * state, the instant and what lists need; the rest is the program's JSON, which must not be taken apart here (Lua's numbers
 * would lose digits):
 *
 *     pending <instant>      stored <JSON>      trashed <until> <at> <JSON>      going <instant>      gone
 *
 * Each may be done twice, or done long after its caller has given up, without harm: a state is only left in the one
 * direction, or what comes of it is the same, and whatever nobody works on is found by the next sweep.
 */
const COMMON = `
local FIRST = 9
local unsettled, totals, file, ref = KEYS[1], KEYS[2], KEYS[FIRST], ARGV[1]
local lists = {
  stored = { KEYS[3], KEYS[4], KEYS[5] },
  trashed = { KEYS[6], KEYS[7], KEYS[8] },
}

local function state_of(entry)
  return entry and string.match(entry, '^%a+')
end

-- As text: a number would lose digits on its way back.
local function instant_of(entry)
  return string.match(entry, '^%a+ (%S+)')
end

local function is_pending(entry)
  return state_of(entry) == 'pending'
end

local function original(of)
  return redis.call('HGET', of or file, '')
end

-- In JSON no text can hold these names with a number behind them, and the digest stands before all that an owner has said.
local function positions(of, entry)
  local key = string.match(of, '^[^/]*/(.*)$')
  local at = tonumber(string.match(entry, '"storedAt":(%-?[%d.eE+-]+)'))
  local digest = string.match(entry, '"sha256":"(%x*)"')
  return { key, string.format('%015.0f', math.floor(at)) .. ' ' .. key, digest .. ' ' .. key }
end

-- Of none there is no count: nothing is left behind when all is deleted.
local function count(state, entry, sign)
  local size = string.match(entry, '"size":(%d+)')
  if redis.call('HINCRBY', totals, state .. ' files', sign) <= 0 then
    redis.call('HDEL', totals, state .. ' files', state .. ' bytes')
  elseif size ~= '0' then
    redis.call('HINCRBY', totals, state .. ' bytes', (sign < 0 and '-' or '') .. size)
  end
end

local function enlist(of, entry)
  local state = state_of(entry)
  if not lists[state] then return end
  local at = positions(of, entry)
  if redis.call('ZADD', lists[state][1], 0, at[1]) == 1 then count(state, entry, 1) end
  redis.call('ZADD', lists[state][2], 0, at[2])
  redis.call('ZADD', lists[state][3], 0, at[3])
end

local function delist(of, entry)
  local state = state_of(entry)
  if not lists[state] then return end
  local at = positions(of, entry)
  if redis.call('ZREM', lists[state][1], at[1]) == 1 then count(state, entry, -1) end
  redis.call('ZREM', lists[state][2], at[2])
  redis.call('ZREM', lists[state][3], at[3])
end

-- Every change of an original's entry. Settled: only when its time is over is there something to do.
local function set(entry, in_file, of)
  in_file, of = in_file or file, of or ref
  local before = original(in_file)
  if before then delist(of, before) end
  redis.call('HSET', in_file, '', entry)
  enlist(of, entry)
end

-- All derivatives: visit(key, entry).
local function each_derivative(visit)
  local all = redis.call('HGETALL', file)
  for i = 1, #all, 2 do
    if all[i] ~= '' then visit(all[i], all[i + 1]) end
  end
end

-- The last of the deadlines after an instant; nil when none lies ahead.
local function last_deadline(after)
  local last
  each_derivative(function(_, entry)
    local deadline = is_pending(entry) and instant_of(entry)
    if deadline and tonumber(deadline) > after and (not last or tonumber(deadline) > tonumber(last)) then
      last = deadline
    end
  end)
  return last
end

local function forget()
  redis.call('DEL', file)
  redis.call('ZREM', unsettled, ref)
end
`

const step = (lua: string) => redisScript(COMMON + lua)

/** ARGV: ref, lease. @returns 1, or 0 when the original is known already */
export const beginUpload = step(`
if original() then return 0 end
set('pending ' .. ARGV[2])
redis.call('ZADD', unsettled, ARGV[2], ref)
return 1
`)

/** Several originals. ARGV: refs, lease. */
export const renewUpload = step(`
local several = #KEYS - FIRST + 1
local lease = ARGV[several + 1]
for i = 1, several do
  local in_file = KEYS[FIRST - 1 + i]
  if is_pending(original(in_file)) then
    redis.call('HSET', in_file, '', 'pending ' .. lease)
    redis.call('ZADD', unsettled, lease, ARGV[i])
  end
end
`)

/** Several originals, all or none. ARGV: refs, JSON of each. @returns 1, or 0 when one is neither pending nor stored */
export const finishUpload = step(`
local several = #KEYS - FIRST + 1
for i = 1, several do
  local state = state_of(original(KEYS[FIRST - 1 + i]))
  if state ~= 'pending' and state ~= 'stored' then return 0 end
end
for i = 1, several do
  local in_file = KEYS[FIRST - 1 + i]
  if is_pending(original(in_file)) then
    set('stored ' .. ARGV[several + i], in_file, ARGV[i])
    redis.call('ZREM', unsettled, ARGV[i])
  end
end
return 1
`)

/** ARGV: ref, JSON, until and at when it is trashed. @returns the entry there is now */
export const adopt = step(`
local known = original()
if known then
  enlist(ref, known)
  return known
end
local entry = 'stored ' .. ARGV[2]
if ARGV[3] then
  entry = 'trashed ' .. ARGV[3] .. ' ' .. ARGV[4] .. ' ' .. ARGV[2]
  redis.call('ZADD', unsettled, ARGV[3], ref)
end
set(entry)
return entry
`)

/** ARGV: ref, JSON as it is known, JSON. @returns 1, or 0 when that is not known */
export const amend = step(`
if original() ~= 'stored ' .. ARGV[2] then return 0 end
set('stored ' .. ARGV[3])
return 1
`)

/** ARGV: ref, until, at. @returns the keys of all derivatives, or nil when the original is not stored */
export const trash = step(`
local json = string.match(original() or '', '^stored (.*)$')
if not json then return false end
set('trashed ' .. ARGV[2] .. ' ' .. ARGV[3] .. ' ' .. json)
redis.call('ZADD', unsettled, ARGV[2], ref)
local keys = {}
each_derivative(function(key) keys[#keys + 1] = key end)
return keys
`)

/** ARGV: ref, now. @returns 1, or 0 when the original is not trashed, or its time is over */
export const restore = step(`
local known, json = string.match(original() or '', '^trashed (%S+) %S+ (.*)$')
if not known or tonumber(known) <= tonumber(ARGV[2]) then return 0 end
set('stored ' .. json)
redis.call('ZREM', unsettled, ref)
return 1
`)

/** ARGV: ref, derivative, deadline, how many there may be or nothing. @returns a DerivativeStart */
export const beginDerivative = step(`
if state_of(original()) ~= 'stored' then return 'refused' end
local limit = tonumber(ARGV[4])
-- One field of the hash is the original.
local is_full = limit and redis.call('HLEN', file) - 1 >= limit
if is_full and redis.call('HEXISTS', file, ARGV[2]) == 0 then return 'full' end
redis.call('HSET', file, ARGV[2], 'pending ' .. ARGV[3])
redis.call('ZADD', unsettled, ARGV[3], ref .. '\\n' .. ARGV[2])
return 'begun'
`)

/** ARGV: ref, derivative, JSON. @returns 1, or 0 when the original is not stored */
export const finishDerivative = step(`
if state_of(original()) ~= 'stored' then return 0 end
redis.call('HSET', file, ARGV[2], 'stored ' .. ARGV[3])
redis.call('ZREM', unsettled, ref .. '\\n' .. ARGV[2])
return 1
`)

/** ARGV: ref, derivative, JSON. @returns the entry there is now, or nil when the original is not stored */
export const adoptDerivative = step(`
if state_of(original()) ~= 'stored' then return false end
local known = redis.call('HGET', file, ARGV[2])
if known then return known end
local entry = 'stored ' .. ARGV[3]
redis.call('HSET', file, ARGV[2], entry)
return entry
`)

/** ARGV: ref, derivative, the last deadline that is meant. */
export const dropDerivative = step(`
local entry = redis.call('HGET', file, ARGV[2])
if not is_pending(entry) or tonumber(instant_of(entry)) > tonumber(ARGV[3]) then return end
redis.call('HDEL', file, ARGV[2])
redis.call('ZREM', unsettled, ref .. '\\n' .. ARGV[2])
if state_of(original()) == 'gone' then
  local last = last_deadline(-math.huge)
  if last then redis.call('ZADD', unsettled, last, ref) else forget() end
end
`)

/** ARGV: ref, cause, lease, now. @returns the keys of all derivatives, or nil when the state does not allow it */
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
  allowed = (state == 'pending' or state == 'trashed' or state == 'going') and tonumber(instant_of(entry)) <= now
end
if not allowed then return false end
set('going ' .. lease)
redis.call('ZADD', unsettled, lease, ref)
local keys = {}
each_derivative(function(key, derivative)
  keys[#keys + 1] = key
  if is_pending(derivative) then redis.call('ZREM', unsettled, ref .. '\\n' .. key) end
end)
return keys
`)

/** ARGV: ref, now. @returns 1, or 0 when the original was not going */
export const finishRemoval = step(`
local now = tonumber(ARGV[2])
if state_of(original()) ~= 'going' then return 0 end
local last = last_deadline(now)
if not last then
  forget()
  return 1
end
each_derivative(function(key, entry)
  if not is_pending(entry) or tonumber(instant_of(entry)) <= now then redis.call('HDEL', file, key) end
end)
set('gone')
redis.call('ZADD', unsettled, last, ref)
return 1
`)
