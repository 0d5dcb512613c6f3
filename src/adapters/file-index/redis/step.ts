import { redisScript } from '../../redis/script.ts'

/**
 * A step of the index: one script, of what follows the functions that all of them share.
 *
 * KEYS[1] is the sorted set of what is not settled; its members are refs, `<ref>\n<derivative>` for a derivative, and
 * their scores the instant at which a sweep may take them: a lease, a deadline, the end of a trashed one's time, or a
 * tombstone's last deadline. The derivatives of an original that is on its way out are not in it: they go with it.
 *
 * KEYS[2] is a hash with how many originals the client has, and their bytes, and KEYS[3] to KEYS[8] are its lists: of those that
 * are stored and of those that are trashed, each by key, instant and digest. They are sorted sets in which all scores are 0,
 * so that they are in the order of their members' bytes: positions, see `../positions.ts`.
 *
 * KEYS[9] is a sorted set of the client's stored derivatives by their last use; held ones have a score above all instants.
 * KEYS[10] is a hash of their bytes by original, and of all under the empty name. A derivative is counted while it is in that set.
 *
 * KEYS[11] and on are the hashes of originals, ARGV begins with their refs, in the same order. The field with the empty
 * name is the original, the others are its derivatives by key. Their values are text, of which the scripts read the
 * state, the instant and what lists need; the rest is the program's JSON, which must not be taken apart here (Lua's numbers
 * would lose digits):
 *
 *     pending <instant>      stored <JSON>      trashed <until> <at> <JSON>      going <instant>      gone
 *
 * Each may be done twice, or done long after its caller has given up, without harm: a state is only left in the one
 * direction, or what comes of it is the same, and whatever nobody works on is found by the next sweep.
 */
export const step = (lua: string) => redisScript(COMMON + lua)

const COMMON = `
local FIRST = 11
local unsettled, totals, file, ref = KEYS[1], KEYS[2], KEYS[FIRST], ARGV[1]
local uses, sums = KEYS[9], KEYS[10]
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

local function bytes_of(entry)
  return tonumber(string.match(entry, '"size":(%d+)')) + tonumber(string.match(entry, '"partsBytes":(%d+)') or 0)
end

local function add_bytes(name, bytes)
  if redis.call('HINCRBY', sums, name, string.format('%.0f', bytes)) <= 0 then redis.call('HDEL', sums, name) end
end

local function sum_up(entry, sign)
  local bytes = sign * bytes_of(entry)
  if bytes == 0 then return end
  add_bytes('', bytes)
  add_bytes(string.match(ref, '^[^/]*/(.*)$'), bytes)
end

local function enter(key, entry, score)
  if redis.call('ZADD', uses, score, key) == 1 then sum_up(entry, 1) end
end

local function leave(key, entry)
  if state_of(entry) == 'stored' and redis.call('ZREM', uses, key) == 1 then sum_up(entry, -1) end
end

-- Every change of a derivative's entry; without one it is forgotten.
local function set_derivative(key, entry, score)
  local before = redis.call('HGET', file, key)
  if before then leave(key, before) end
  if not entry then return redis.call('HDEL', file, key) end
  redis.call('HSET', file, key, entry)
  if state_of(entry) == 'stored' then enter(key, entry, score) end
end

local function forget()
  each_derivative(leave)
  redis.call('DEL', file)
  redis.call('ZREM', unsettled, ref)
end
`
