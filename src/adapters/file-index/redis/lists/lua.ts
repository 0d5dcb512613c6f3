/** The bytes of a packed id. */
export const ID_BYTES = 17
/** The bytes of the value before the place in a member of each list. That of a name ends with a line break. */
export const VALUE_BYTES = { storedAt: 6, sha256: 8, size: 7 } as const
/** The field of an original's hash with its key, without the id. */
export const KEY_FIELD = 'k'

/**
 * Names of hashes and places in lists, as a part of each step.
 *
 * The id of an original is the 22 characters before the extension of its key. The hash of an original has a short name, which ends
 * with the id. When another key of the client with this id has that name, it has a long one, which ends with the key. An original
 * does not change its name while it exists. A key without an id has the long name only.
 *
 * A place says which original a member of a list belongs to: the packed id of one with a short name, or the key of one with a
 * long name. Line breaks at its end make such a place longer than a packed id.
 *
 * `places.ts` computes the same, since this process reads members and names, and begins pages between them. `lists.test.ts` compares both.
 */
export const PLACES = `
local function key_of(of)
  return string.match(of, '^[^/]*/(.*)$')
end

local function id_in(key)
  local id = string.match(key, '/([1-9A-Za-z]+)%.[a-z0-9]+$')
  return id and #id == 22 and id
end

local function without_id(key)
  local at = id_in(key) and string.find(key, '[^/]*$')
  return at and string.sub(key, 1, at - 1) .. string.sub(key, at + 22) or key
end

-- The name of the hash that a key has or gets.
local function chosen(short, long, key)
  local known = redis.call('HGET', short, '${KEY_FIELD}')
  if known == without_id(key) or (not known and redis.call('EXISTS', long) == 0) then return short end
  return long
end

-- Six bits for each character, which sort as the characters do.
local function packed(id)
  local digits = { string.byte(id, 1, 22) }
  for i = 1, 22 do
    local byte = digits[i]
    digits[i] = byte - (byte < 58 and 49 or byte < 91 and 56 or 62)
  end
  local function group(i) return ((digits[i] * 64 + digits[i + 1]) * 64 + digits[i + 2]) * 64 + digits[i + 3] end
  return struct.pack('>I3I3I3I3I3I2', group(1), group(5), group(9), group(13), group(17), digits[21] * 64 + digits[22])
end

local known_places = {}
local function place_of(in_file, key)
  local place = known_places[in_file]
  if place then return place end
  local id = id_in(key)
  if id and string.sub(in_file, -#key) ~= key then place = packed(id)
  else place = key .. string.rep('\\n', ${ID_BYTES + 1} - #key) end
  known_places[in_file] = place
  return place
end
`

/**
 * The members of an original in the lists by key, instant, digest, name and size. They are sorted by the value and then by the
 * place: the value has 6 bytes of the instant, 6 of the digest and 2 of the digest of the key up to its last slash, the name in lower case with a
 * line break, or 7 bytes of the size. The member of the list by key is the key.
 */
export const LISTING = `
local folder_values = {}
-- An original as its lists have it; nil when its state is in no lists.
local function listing_of(in_file, key, entry)
  local state = state_of(entry)
  if not lists[state or ''] then return nil end
  local place, record, folder = place_of(in_file, key), record_in(entry), string.match(key, '^.*/') or ''
  local at = math.max(0, math.min(2 ^ 48 - 1, math.floor(record.at)))
  local digest = string.sub(record.digest .. string.rep('\\0', 6), 1, 6)
  folder_values[folder] = folder_values[folder] or struct.pack('>I2', tonumber(string.sub(redis.sha1hex(folder), 1, 4), 16))
  local members = {
    key,
    struct.pack('>I6', at) .. place,
    digest .. folder_values[folder] .. place,
    sortable_name(record.name) .. '\\n' .. place,
    struct.pack('>I7', record.size) .. place,
  }
  return { key = key, state = state, size = record.size, members = members }
end

-- Counts originals of a state. A count of 0 is deleted: a client without originals leaves no fields behind.
local function count(state, all, sign)
  if not all[1] then return end
  local bytes = 0
  for _, one in ipairs(all) do bytes = bytes + sign * one.size end
  count_folders(state, all, sign)
  if redis.call('HINCRBY', totals, state .. ' files', sign * #all) <= 0 then
    redis.call('HDEL', totals, state .. ' files', state .. ' bytes')
  elseif bytes ~= 0 then
    redis.call('HINCRBY', totals, state .. ' bytes', integer_text(bytes))
  end
end

local function enlist(in_file, key, entry)
  local one = listing_of(in_file, key, entry)
  if not one then return end
  for order, member in ipairs(one.members) do
    if add_member(lists[one.state][order], member) == 1 and order == 1 then count(one.state, { one }, 1) end
  end
end

local function delist(in_file, key, entry)
  local one = listing_of(in_file, key, entry)
  if not one then return end
  for order, member in ipairs(one.members) do
    if remove_member(lists[one.state][order], member) == 1 and order == 1 then count(one.state, { one }, -1) end
  end
end

-- Adds listings to the lists by add_members and 1, or removes them by remove_members and -1.
local function list_all(listings, change, sign)
  for state, orders in pairs(lists) do
    local all, unchanged, changed = {}, {}, {}
    for _, one in ipairs(listings) do if one.state == state then all[#all + 1] = one end end
    for order, list in ipairs(orders) do
      local members = {}
      for i, one in ipairs(all) do members[i] = one.members[order] end
      change(list, members, order == 1 and unchanged or nil)
    end
    for _, one in ipairs(all) do if not unchanged[one.key] then changed[#changed + 1] = one end end
    count(state, changed, sign)
  end
end
`
