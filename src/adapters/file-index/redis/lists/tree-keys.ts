import { ID_BYTES, LABEL_BYTES, VALUE_BYTES } from './lua.ts'

/** The keys of a list by key, for scripts that read all originals. */
export const TREE_KEYS = `
local function key_at(prefixes, place)
  local label = struct.unpack('>I${LABEL_BYTES}', place)
  local prefix = redis.call('ZRANGEBYSCORE', prefixes, label, label, 'LIMIT', 0, 1)[1]
  if not prefix then return end
  local groups, id = { struct.unpack('>I3I3I3I3I3I2', place, ${LABEL_BYTES + 1}) }, {}
  for i = 1, 22 do
    local bits = i < 21 and 18 - 6 * ((i - 1) % 4) or 6 * (22 - i)
    local digit = math.floor(groups[math.ceil(i / 4)] / 2 ^ bits) % 64
    id[i] = digit + (digit < 9 and 49 or digit < 35 and 56 or 62)
  end
  local extension = string.sub(place, ${LABEL_BYTES + ID_BYTES + 1})
  if extension == '' then extension = usual_extension(prefix) end
  return prefix .. string.char(unpack(id)) .. '.' .. extension
end

-- The place in a member of the tree of an order.
local function place_in(member, order)
  local from = order == 4 and string.find(member, '\\n', 1, true) or ({ 0, ${VALUE_BYTES.storedAt}, ${VALUE_BYTES.sha256}, 0, ${VALUE_BYTES.size} })[order]
  return string.sub(member, from + 1)
end

-- The next keys of a list by key. Without a key, it begins with the first one.
local function keys_after(list, key, most)
  local prefixes, min = list .. ':prefixes', '-'
  if key then
    local place, is_exact = place_from(prefixes, key)
    min = (is_exact and '(' or '[') .. place
  end
  local in_tree = {}
  for _, places in ipairs(read_tree(list, min, '+', most)) do
    for _, place in ipairs(places) do in_tree[#in_tree + 1] = key_at(prefixes, place) end
  end
  local plain = redis.call('ZRANGEBYLEX', list, key and '(' .. key or '-', '+', 'LIMIT', 0, most)
  local keys, i, j = {}, 1, 1
  while #keys < most and (in_tree[i] or plain[j]) do
    local is_plain = not in_tree[i] or (plain[j] and is_up_to(plain[j], in_tree[i]))
    -- Version 1.0 may have listed an original of the tree.
    if is_plain and plain[j] == in_tree[i] then i = i + 1 end
    keys[#keys + 1] = is_plain and plain[j] or in_tree[i]
    if is_plain then j = j + 1 else i = i + 1 end
  end
  return keys
end
`
