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
  for i, byte in ipairs(digits) do digits[i] = byte - (byte < 58 and 49 or byte < 91 and 56 or 62) end
  local groups = {}
  for i = 1, 17, 4 do groups[#groups + 1] = ((digits[i] * 64 + digits[i + 1]) * 64 + digits[i + 2]) * 64 + digits[i + 3] end
  groups[6] = digits[21] * 64 + digits[22]
  return struct.pack('>I3I3I3I3I3I2', unpack(groups))
end

local function place_of(in_file, key)
  local id = id_in(key)
  if id and string.sub(in_file, -#key) ~= key then return packed(id) end
  return key .. string.rep('\\n', ${ID_BYTES + 1} - #key)
end
`

/**
 * The members of an original in the lists by key, instant, digest, name and size. They are sorted by the value and then by the
 * place: the value has 6 bytes of the instant, 6 of the digest and 2 of the digest of the key up to its last slash, the name in lower case with a
 * line break, or 7 bytes of the size. The member of the list by key is the key.
 */
export const LISTING = `
local function members_of(in_file, key, entry)
  local place = place_of(in_file, key)
  local record = record_in(entry)
  local at = math.max(0, math.min(2 ^ 48 - 1, math.floor(record.at)))
  local digest = string.sub(record.digest .. string.rep('\\0', 6), 1, 6)
  local folder = tonumber(string.sub(redis.sha1hex(string.match(key, '^.*/') or ''), 1, 4), 16)
  return {
    key,
    struct.pack('>I6', at) .. place,
    digest .. struct.pack('>I2', folder) .. place,
    sortable_name(record.name) .. '\\n' .. place,
    struct.pack('>I7', record.size) .. place,
  }
end

-- A count of 0 is deleted: a client without originals leaves no fields behind.
local function count(state, key, entry, sign)
  local size = size_of(entry)
  count_folders(state, key, size, sign)
  if redis.call('HINCRBY', totals, state .. ' files', sign) <= 0 then
    redis.call('HDEL', totals, state .. ' files', state .. ' bytes')
  elseif size ~= '0' then
    redis.call('HINCRBY', totals, state .. ' bytes', (sign < 0 and '-' or '') .. size)
  end
end

local function enlist(in_file, key, entry)
  local state = state_of(entry)
  if not lists[state] then return end
  local members = members_of(in_file, key, entry)
  if add_member(lists[state][1], members[1]) == 1 then count(state, key, entry, 1) end
  for order = 2, #members do add_member(lists[state][order], members[order]) end
end

local function delist(in_file, key, entry)
  local state = state_of(entry)
  if not lists[state] then return end
  local members = members_of(in_file, key, entry)
  if remove_member(lists[state][1], members[1]) == 1 then count(state, key, entry, -1) end
  for order = 2, #members do remove_member(lists[state][order], members[order]) end
end
`
