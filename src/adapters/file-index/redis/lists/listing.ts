import { TREE_CHANGES } from './tree-changes.ts'

/** Enters originals in lists and removes them, as a part of each step. */
export const LISTING = `
-- No text inside JSON can contain these unescaped names, and the digest precedes the tags and metadata of the owner.
local function instant_in(entry)
  return tonumber(string.match(entry, '"storedAt":(%-?[%d.eE+-]+)'))
end

local function digest_in(entry)
  return string.match(entry, '"sha256":"(%x*)"')
end

-- As positionOf of all orders.
local function positions(key, entry)
  local size = size_of(entry)
  return {
    key,
    string.format('%015.0f', math.floor(instant_in(entry))) .. ' ' .. key,
    digest_in(entry) .. ' ' .. key,
    name_in(entry) .. '\\n' .. key,
    string.rep('0', 16 - #size) .. size .. ' ' .. key,
  }
end

${TREE_CHANGES}

local function key_of(of)
  return string.match(of, '^[^/]*/(.*)$')
end

-- Version 1.0 counts the originals in the lists themselves. A count of 0 is deleted.
local function count_plain(state, entry, sign)
  local size = size_of(entry)
  if redis.call('HINCRBY', totals, state .. ' files', sign) <= 0 then
    redis.call('HDEL', totals, state .. ' files', state .. ' bytes')
  elseif size ~= '0' then
    redis.call('HINCRBY', totals, state .. ' bytes', (sign < 0 and '-' or '') .. size)
  end
end

-- Removes an original from the lists themselves. The first write takes no memory: a full Redis would refuse it.
local function leave_plain(state, key, entry)
  local known = redis.call('ZREM', lists[state][1], key) == 1
  if known then count_plain(state, entry, -1) end
  if redis.call('EXISTS', unpack(lists[state], 2)) > 0 then
    local at = positions(key, entry)
    for order = 2, #at do redis.call('ZREM', lists[state][order], at[order]) end
  end
  return known
end

-- An original that version 1.0 has listed moves into the trees.
local function enlist(of, entry)
  local state, key = state_of(entry), key_of(of)
  if not lists[state] then return end
  local prefix, rest = parts_of(key)
  local prefixes = lists[state][1] .. ':prefixes'
  local label = prefix and (redis.call('ZSCORE', prefixes, prefix) or new_label(prefixes, prefix))
  local members = label and members_of(entry, bytes_of_label(label) .. rest) or {}
  local known = redis.call('EXISTS', unpack(lists[state])) > 0 and leave_plain(state, key, entry)
  local at, is_new
  for order, list in ipairs(lists[state]) do
    at = at or not members[order] and positions(key, entry)
    local added = members[order] and add_member(list, members[order]) or not members[order] and redis.call('ZADD', list, 0, at[order])
    if order == 1 then is_new = added == 1 and not known end
  end
  if is_new then count_folders(state, key, size_of(entry), 1) end
  if not members[1] then count_plain(state, entry, 1) end
end

local function delist(of, entry)
  local state, key = state_of(entry), key_of(of)
  if not lists[state] then return end
  local known = leave_plain(state, key, entry)
  local prefix, rest = parts_of(key)
  local label = prefix and redis.call('ZSCORE', lists[state][1] .. ':prefixes', prefix)
  local members = label and members_of(entry, bytes_of_label(label) .. rest) or {}
  for order, list in ipairs(lists[state]) do
    local removed = members[order] and remove_member(list, members[order]) == 1
    if order == 1 then known = known or removed end
  end
  if label then drop_label(lists[state][1], prefix, label) end
  if known then count_folders(state, key, size_of(entry), -1) end
end
`
