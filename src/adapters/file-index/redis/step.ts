import { fencedScript } from '../fence.ts'
import { FOLDERS } from './folder-lua.ts'
import { KEY_FIELD, LISTING, PLACES } from './lists/lua.ts'
import { NUMBER_FIELD, SEARCH } from './search/lua.ts'
import { TREE_CHANGES, TREE_READS } from './tree/lua.ts'

/**
 * A step of the index: one Lua script, which consists of the shared functions and the given text.
 *
 * KEYS[1] is the sorted set of unsettled entries. Its members are refs, or `<ref>\n<derivative>` for a derivative. The score is
 * the instant from which on a sweep may handle the entry: a lease, a deadline, the end of the retention of a trashed original,
 * or the last deadline of a tombstone. It does not have the derivatives of an original that is being deleted.
 *
 * KEYS[2] is a hash with the number of the client's originals and their bytes. KEYS[3] to KEYS[12] are the client's lists: of the
 * stored and of the trashed originals, each by key, instant, digest, name and size: see `tree/lua.ts` for the lists, and `lists/lua.ts` for
 * their members.
 *
 * KEYS[13] is a sorted set of the client's stored derivatives by their last use; held ones have a score above all instants.
 * KEYS[14] is a hash of their bytes by original, with the total under the empty name. A derivative is counted while it is in KEYS[13].
 *
 * KEYS[15] to KEYS[18] are the counters of folders, see `folder-lua.ts`.
 *
 * KEYS[19] and KEYS[20] are the search, see `search/lua.ts`.
 *
 * KEYS[21] and the following are hashes, two for each original: the one with its short name and the one with its long name, see
 * `lists/lua.ts`. ARGV begins with the refs of the originals, in the same order. The field with the empty name is the original,
 * {@link KEY_FIELD} is its key without the id, {@link NUMBER_FIELD} is its number in the search, the others are its derivatives by
 * key. The entries are texts. The scripts read their state, their instant, the tag of the record object, and the members that lists need. They must
 * not parse the JSON, since Lua's numbers would lose digits:
 *
 *     pending <instant>      stored <JSON>      trashed <until> <at> <JSON>      going <instant>      gone
 *
 * In a cluster, a step has the epoch by which its partition was chosen, see `../fence.ts`.
 *
 * A step may run twice, or long after its caller has given up, without harm: it changes a state in one direction only, or its
 * repetition has the same result. The next sweep finds all abandoned entries.
 */
export const step = (lua: string) =>
  fencedScript(TREE_READS + TREE_CHANGES + PLACES + HEAD + FOLDERS + SEARCH + COMMON + lua)

const HEAD = `
local FIRST = 21
local unsettled, totals = KEYS[1], KEYS[2]
local uses, sums = KEYS[13], KEYS[14]
local lists = {
  stored = { KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7] },
  trashed = { KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12] },
}

-- The hash and the ref of an original of this step, by its number.
local function file_at(i)
  return chosen(KEYS[FIRST + 2 * i - 2], KEYS[FIRST + 2 * i - 1], key_of(ARGV[i])), ARGV[i]
end

local originals, file, ref = (#KEYS - FIRST + 1) / 2
if originals > 0 then file, ref = file_at(1) end
`

const COMMON = `
local function state_of(entry)
  return entry and string.match(entry, '^%a+')
end

-- Returns text: a number would lose digits when it is converted back.
local function instant_of(entry)
  return string.match(entry, '^%a+ (%S+)')
end

local function is_pending(entry)
  return state_of(entry) == 'pending'
end

local function original(of)
  return redis.call('HGET', of or file, '')
end

-- An entry without the tag of its record object. The tag is first in the JSON, so it is no text of the owner.
local function untagged(entry)
  return entry and (string.gsub(entry, '^(%l+ [^{]*{)"recordTag":"[^"]*",', '%1', 1))
end

local function size_of(entry)
  return string.match(entry, '"size":(%d+)')
end

-- The name as in positionOf. Only the literal is parsed, which has no numbers.
local function name_in(entry)
  local from, to = string.find(entry, '"originalName":"', 1, true)
  local stop = to
  repeat
    stop = string.find(entry, '["\\\\]', stop + 1)
    local is_end = string.sub(entry, stop, stop) == '"'
    if not is_end then stop = stop + 1 end
  until is_end
  local is_valid, parsed = pcall(cjson.decode, '[' .. string.sub(entry, to, stop) .. ']')
  local name = is_valid and parsed[1] or string.sub(entry, to + 1, stop - 1)
  name = string.gsub(name, '[A-Z]', function(letter) return string.char(string.byte(letter) + 32) end)
  return (string.gsub(name, '\\n', ' '))
end

-- No text inside JSON can contain these unescaped names, and the digest precedes the tags and metadata of the owner.
local function instant_in(entry)
  return tonumber(string.match(entry, '"storedAt":(%-?[%d.eE+-]+)'))
end

local function digest_in(entry)
  return string.match(entry, '"sha256":"(%x*)"')
end
${LISTING}
-- Whether two entries have the same name and tags.
local function is_found_alike(one, other)
  local function texts_in(entry)
    local is_valid, record = pcall(cjson.decode, string.match(entry, '{.*$'))
    return is_valid and (record.originalName or '') .. '\\n' .. table.concat(record.tags or {}, '\\n')
  end
  local texts = texts_in(one)
  return texts and texts == texts_in(other)
end

-- Sets the entry of an original, and updates its lists. The caller updates the set of unsettled entries. A step that does not
-- change the name and the tags of a listed original omits the texts by which it is found.
local function set(entry, in_file, of, texts)
  in_file = in_file or file
  local key, before = key_of(of or ref), original(in_file)
  if before then delist(in_file, key, before) end
  redis.call('HSET', in_file, '', entry, '${KEY_FIELD}', without_id(key))
  enlist(in_file, key, entry)
  local place = place_of(in_file, key)
  if not lists[state_of(entry)] then leave_search(in_file, place) elseif texts then enter_search(in_file, place, texts) end
end

-- Calls visit(key, entry) for all derivatives.
local function each_derivative(visit)
  local all = redis.call('HGETALL', file)
  for i = 1, #all, 2 do
    if all[i] ~= '' and all[i] ~= '${KEY_FIELD}' and all[i] ~= '${NUMBER_FIELD}' then visit(all[i], all[i + 1]) end
  end
end

-- The last deadline of pending derivatives after an instant; nil when there is no such deadline.
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
  add_bytes(key_of(ref), bytes)
end

local function enter(key, entry, score)
  if redis.call('ZADD', uses, score, key) == 1 then sum_up(entry, 1) end
end

local function leave(key, entry)
  if state_of(entry) == 'stored' and redis.call('ZREM', uses, key) == 1 then sum_up(entry, -1) end
end

-- Sets the entry of a derivative, or deletes it when there is no new entry.
local function set_derivative(key, entry, score)
  local before = redis.call('HGET', file, key)
  if before then leave(key, before) end
  if not entry then return redis.call('HDEL', file, key) end
  redis.call('HSET', file, key, entry)
  if state_of(entry) == 'stored' then enter(key, entry, score) end
end

local function forget()
  each_derivative(leave)
  leave_search(file, place_of(file, key_of(ref)))
  redis.call('DEL', file)
  redis.call('ZREM', unsettled, ref)
end

-- The end of a delete. During a move, another partition may have an old copy.
local function forget_deleted()
  forget()
  if deleted then redis.call('SADD', deleted, key_of(ref)) end
end
`
