import { withUsed } from '../../redis/used-lua.ts'
import { fencedScript } from '../fence.ts'
import { SUM_FIELD, USE_BYTES } from './entries/derivatives.ts'
import { ENTRIES } from './entries/lua.ts'
import { FOLDERS } from './folder-lua.ts'
import { KEY_FIELD, LISTING, PLACES } from './lists/lua.ts'
import { NUMBER_FIELD, SEARCH } from './search/lua.ts'
import { TREE_CHANGES, TREE_READS } from './tree/lua.ts'

/**
 * A step of the index: one Lua script, which consists of the shared functions and the given text.
 *
 * KEYS[1] is the sorted set of unsettled entries. Its members are refs, or `<ref>\n_<variant>` for a derivative. The score is
 * the instant from which on a sweep may handle the entry: a lease, a deadline, the end of the retention of a trashed original,
 * or the last deadline of a tombstone. It does not have the derivatives of an original that is being deleted.
 *
 * KEYS[2] is a hash with the number of the client's originals and their bytes. KEYS[3] to KEYS[12] are the client's lists: of the
 * stored and of the trashed originals, each by key, instant, digest, name and size: see `tree/lua.ts` for the lists, and `lists/lua.ts` for
 * their members.
 *
 * KEYS[13] is a list of the client's stored derivatives by their last use, see `tree/lua.ts`. A member has the 7 bytes of the use,
 * the name of the derivative, a line break and the place of its original. KEYS[14] is the number of their bytes. A derivative is counted
 * while it is in the list.
 *
 * KEYS[15] to KEYS[18] are the counters of folders, see `folder-lua.ts`.
 *
 * KEYS[19] and KEYS[20] are the search, see `search/lua.ts`.
 *
 * KEYS[21] and the following are hashes, two for each original: the one with its short name and the one with its long name, see
 * `lists/lua.ts`. ARGV begins with the refs of the originals, in the same order. A hash has the entry of the original in pieces,
 * {@link KEY_FIELD} is its key without the id, {@link NUMBER_FIELD} is its number in the search, {@link SUM_FIELD} is the bytes of its
 * derivatives that are counted, and the other fields are its derivatives by their name, see `nameIn`: `_w=300`. The folder
 * `entries` describes the values.
 *
 * In a cluster, a step has the epoch by which its partition was chosen, see `../fence.ts`.
 *
 * A step may run twice, or long after its caller has given up, without harm: it changes a state in one direction only, or its
 * repetition has the same result. The next sweep finds all abandoned entries.
 */
export const step = (lua: string, options?: Parameters<typeof fencedScript>[1]) =>
  fencedScript(withUsed(LIBRARY, lua), options)

const HEAD = `
local FIRST = 21
local unsettled, totals = KEYS[1], KEYS[2]
local uses, sum = KEYS[13], KEYS[14]
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
local function original(of)
  return read_entry(of or file)
end
${LISTING}
-- Whether two entries have the same name and tags. False when this cannot be found out: half of a character in any text of the rest,
-- such as "\\ud800", is an error of cjson.
local function is_found_alike(one, other)
  local function texts_in(entry)
    local record = record_in(entry)
    local is_read, rest = pcall(cjson.decode, record.rest == '' and '{}' or record.rest)
    return is_read and record.name .. '\\n' .. table.concat(rest.tags or {}, '\\n')
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
  write_entry(in_file, entry)
  if not before then redis.call('HSET', in_file, '${KEY_FIELD}', without_id(key)) end
  enlist(in_file, key, entry)
  local place = place_of(in_file, key)
  if not lists[state_of(entry)] then leave_search(in_file, place) elseif texts then enter_search(in_file, place, texts) end
end

-- Calls visit(name, entry) for all derivatives.
local function each_derivative(visit)
  local all = redis.call('HGETALL', file)
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, 1) == '_' then visit(all[i], all[i + 1]) end
  end
end

-- The last deadline of pending derivatives after an instant; nil when there is no such deadline.
local function last_deadline(after)
  local last
  each_derivative(function(_, entry)
    local deadline = is_pending(entry) and instant_of(entry)
    if deadline and deadline > after and (not last or deadline > last) then last = deadline end
  end)
  return last
end

-- Adds to the bytes of the client's derivatives. A sum of 0 is deleted.
local function sum_up_client(bytes)
  if bytes ~= 0 and redis.call('INCRBY', sum, string.format('%.0f', bytes)) <= 0 then redis.call('DEL', sum) end
end

-- The same, and that of the original.
local function sum_up(bytes)
  sum_up_client(bytes)
  if bytes == 0 then return end
  if redis.call('HINCRBY', file, '${SUM_FIELD}', string.format('%.0f', bytes)) <= 0 then redis.call('HDEL', file, '${SUM_FIELD}') end
end

local function use_member(name, entry)
  return string.sub(entry, 2, ${1 + USE_BYTES}) .. name .. '\\n' .. (known_places[file] or place_of(file, key_of(ref)))
end

-- The bytes are read before the first write, so an entry that cannot be read changes nothing.
local function enter(name, entry)
  local bytes = bytes_of(entry)
  if add_member(uses, use_member(name, entry)) == 1 then sum_up(bytes) end
end

local function leave(name, entry)
  if state_of(entry) ~= 'stored' then return end
  local bytes = bytes_of(entry)
  if remove_member(uses, use_member(name, entry)) == 1 then sum_up(-bytes) end
end

-- Sets the entry of a derivative, or deletes it when there is no new entry.
local function set_derivative(name, entry)
  local before = redis.call('HGET', file, name)
  if before then leave(name, before) end
  if not entry then return redis.call('HDEL', file, name) end
  redis.call('HSET', file, name, entry)
  if state_of(entry) == 'stored' then enter(name, entry) end
end

local function forget()
  local members, bytes = {}, 0
  each_derivative(function(name, entry)
    if state_of(entry) == 'stored' then members[use_member(name, entry)] = bytes_of(entry) end
  end)
  for member, size in pairs(members) do bytes = bytes + remove_member(uses, member) * size end
  sum_up(-bytes)
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

const LIBRARY = TREE_READS + TREE_CHANGES + ENTRIES + PLACES + HEAD + FOLDERS + SEARCH + COMMON
