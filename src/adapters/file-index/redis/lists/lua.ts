/** The bytes of a label. */
export const LABEL_BYTES = 5
/** The bytes of a packed id. */
export const ID_BYTES = 17
/** The bytes of the value before the label in a member of each list; the name has a line break behind it. */
export const VALUE_BYTES = { key: 0, storedAt: 6, sha256: 8, size: 5 } as const
/**
 * The lists of originals, as a part of each step.
 *
 * A list has the name of one of KEYS[3] to KEYS[12]. Almost all originals are in its tree: leaves of at most 128 members, sorted
 * sets with the score 0, which Redis stores compactly. A member sorts as the position does, in a fifth of the bytes:
 * the value (6 bytes of the instant, 8 of the digest, 5 of the size, or the name and a line break), and the place.
 *
 * A place is the key in short: the label of its prefix, which is the key up to its last slash, 17 bytes for the id, and the extension, if the
 * format has another one. Labels are numbers of 5 bytes that sort as the prefixes do. No prefix with a label is the beginning of another one.
 *
 * - `<list>:leaves`: the least member that each leaf may have. The leaf with the least ones has the empty text
 * - `<list>/<least member>`: a leaf
 * - `<list by key>:prefixes`: a sorted set of prefixes. The scores are their labels. The empty text has the version, a negative number:
 *   as long as it is the same, no label changes its meaning
 *
 * The sorted set with the name of the list itself has the positions of all other originals: of keys without an id, of long names, of
 * prefixes for which there is no label, and those that version 1.0 has stored. A list is both of them, merged.
 */
export const TREES = `
-- The bytes of an id, six bits for each character, which sort as the characters do.
local function packed_id(id)
  local digits = { string.byte(id, 1, 22) }
  for i, byte in ipairs(digits) do digits[i] = byte - (byte < 58 and 49 or byte < 91 and 56 or 62) end
  local groups = {}
  for i = 1, 17, 4 do groups[#groups + 1] = ((digits[i] * 64 + digits[i + 1]) * 64 + digits[i + 2]) * 64 + digits[i + 3] end
  groups[6] = digits[21] * 64 + digits[22]
  return struct.pack('>I3I3I3I3I3I2', unpack(groups))
end

-- The extension that is left out: version 1.0 has used it for this format, or the name of the format is used.
local function usual_extension(prefix)
  local format = string.match(prefix, '([^/]*)/$')
  return format == 'jpeg' and 'jpg' or format
end

-- The prefix of a key, and the rest of its place. Nothing for a key without an id.
local function parts_of(key)
  local prefix, id, extension = string.match(key, '^(.*/)([1-9A-Za-z]+)%.([a-z0-9]+)$')
  if not id or #id ~= 22 then return end
  return prefix, packed_id(id) .. (extension == usual_extension(prefix) and '' or extension)
end

local function bytes_of_label(label)
  return struct.pack('>I${LABEL_BYTES}', label)
end

-- How many prefixes sort up to this text.
local function rank_of(prefixes, text)
  local low, high = 0, redis.call('ZCARD', prefixes)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if is_up_to(redis.call('ZRANGE', prefixes, middle, middle)[1], text) then low = middle + 1 else high = middle end
  end
  return low
end

-- The prefix at a rank and its label, or nothing. The first member is the version.
local function prefix_at(prefixes, rank)
  local found = rank > 0 and redis.call('ZRANGE', prefixes, rank, rank, 'WITHSCORES') or {}
  return found[1], tonumber(found[2])
end

-- The separator of the leaf for a member, or nil.
local function leaf_for(list, member)
  return redis.call('ZREVRANGEBYLEX', list .. ':leaves', '[' .. member, '-', 'LIMIT', 0, 1)[1]
end

-- Members of a tree between two bounds, as ZRANGEBYLEX takes them: those of each leaf.
local function read_tree(list, min, max, most, is_down)
  local leaves, parts, left = list .. ':leaves', {}, most
  local range, first, last = 'ZRANGEBYLEX', min, max
  if is_down then range, first, last = 'ZREVRANGEBYLEX', max, min end
  local from = not is_down and min ~= '-' and leaf_for(list, string.sub(min, 2))
    or redis.call(range, leaves, is_down and max or '-', is_down and '-' or '+', 'LIMIT', 0, 1)[1]
  while from do
    parts[#parts + 1] = redis.call(range, list .. '/' .. from, first, last, 'LIMIT', 0, left)
    left = left - #parts[#parts]
    if left <= 0 or (is_down and min ~= '-' and is_up_to(from, string.sub(min, 2))) then break end
    from = redis.call(range, leaves, '(' .. from, is_down and '-' or max, 'LIMIT', 0, 1)[1]
  end
  return parts
end

-- The least digit of six bits that sorts from this byte on, and whether it is the one of this byte.
local function digit_from(byte)
  if byte < 49 then return 0 end
  if byte < 58 then return byte - 49, true end
  if byte < 65 then return 9 end
  if byte < 91 then return byte - 56, true end
  if byte < 97 then return 35 end
  if byte < 123 then return byte - 62, true end
  return 63
end

-- The least place of the keys from this text on, and whether it is the place of this key.
local function place_from(prefixes, text)
  local prefix, rest = parts_of(text)
  local label = prefix and redis.call('ZSCORE', prefixes, prefix)
  if label then return bytes_of_label(label) .. rest, true end
  -- The bounds of a folder: "0" is the byte after "/".
  local last, stem = string.sub(text, -1), string.sub(text, 1, -2) .. '/'
  label = (last == '/' or last == '0') and redis.call('ZSCORE', prefixes, stem)
  if label then return bytes_of_label(label + (last == '0' and 1 or 0)) end
  prefix, label = prefix_at(prefixes, rank_of(prefixes, text) - 1)
  if not prefix then return '' end
  label = tonumber(label)
  if string.sub(text, 1, #prefix) ~= prefix then return bytes_of_label(label + 1) end
  local digits, is_exact = {}, true
  for i = 1, 22 do
    local byte = is_exact and string.byte(text, #prefix + i)
    digits[i], is_exact = 0, byte and is_exact
    if byte then digits[i], is_exact = digit_from(byte) end
  end
  local groups = {}
  for i = 1, 17, 4 do groups[#groups + 1] = ((digits[i] * 64 + digits[i + 1]) * 64 + digits[i + 2]) * 64 + digits[i + 3] end
  groups[6] = digits[21] * 64 + digits[22]
  -- Behind the key of this id.
  return bytes_of_label(label) .. struct.pack('>I3I3I3I3I3I2', unpack(groups)) .. (is_exact and '\\0' or '')
end
`
