import { LABEL_BYTES, VALUE_BYTES } from './lua.ts'

/** The members of a leaf at most. Redis stores a sorted set of at most 128 members compactly, when each has at most 64 bytes. */
export const LEAF_MAX = 128
const MEMBER_MAX = 64
// Labels are from 1 to this number (exclusive), so the one behind each label has as many bytes.
const LABELS = 2 ** (8 * LABEL_BYTES) - 1
// A leaf that has only so many members left, or half or a third of them, is joined with a neighbour.
const JOINED = 48
const JOINED_MAX = 96
// The part of a gap between two labels that the next one of a series takes: 7,000 folders, each behind the one before, have labels.
const SERIES = 1024
// Series have names that share so many more bytes with one neighbour than with the other.
const ALIKE = 3

/** Changes of lists: steps have them, scripts that only read do not. */
export const TREE_CHANGES = `
local function alike(one, other)
  local bytes = 0
  while bytes < #one and bytes < #other and string.byte(one, bytes + 1) == string.byte(other, bytes + 1) do bytes = bytes + 1 end
  return bytes
end

-- Processes remember the prefixes of labels until the version changes. No two steps have the same arguments, with ids and instants.
local function note_version(prefixes)
  local digest = redis.sha1hex(table.concat(ARGV, ' ') .. tostring(redis.call('ZSCORE', prefixes, '')))
  redis.call('ZADD', prefixes, -tonumber(string.sub(digest, 1, 12), 16), '')
end

-- Gives a prefix a label between those of its neighbours, next to the one of its series. Nothing when there is no room.
local function new_label(prefixes, prefix)
  local rank = math.max(1, rank_of(prefixes, prefix))
  local before, low = prefix_at(prefixes, rank - 1)
  local after, high = prefix_at(prefixes, rank)
  low, high = low or 0, high or ${LABELS}
  local with_before, with_after = before and alike(before, prefix) or 0, after and alike(after, prefix) or 0
  if high - low < 2 or (before and with_before == #before) or with_after == #prefix then return end
  local near, label = math.ceil((high - low) / ${SERIES}), math.floor((low + high) / 2)
  if with_before >= with_after + ${ALIKE} then label = low + near
  elseif with_after >= with_before + ${ALIKE} then label = high - near end
  if not before and not after then note_version(prefixes) end
  redis.call('ZADD', prefixes, label, prefix)
  return label
end

-- Divides a full leaf. @returns the separator of the half for a member. Members in their order fill leaves completely.
local function divided(list, from, member)
  local leaf, leaves = list .. '/' .. from, list .. ':leaves'
  if is_up_to(redis.call('ZRANGE', leaf, -1, -1)[1], member) then
    redis.call('ZADD', leaves, 0, member)
    return member
  end
  local upper, scored = redis.call('ZRANGE', leaf, ${LEAF_MAX / 2}, -1), {}
  for i, one in ipairs(upper) do scored[2 * i - 1], scored[2 * i] = 0, one end
  redis.call('ZADD', list .. '/' .. upper[1], unpack(scored))
  redis.call('ZREMRANGEBYRANK', leaf, ${LEAF_MAX / 2}, -1)
  redis.call('ZADD', leaves, 0, upper[1])
  return is_up_to(upper[1], member) and upper[1] or from
end

-- @returns 1, or 0 when the tree has the member
local function add_member(list, member)
  local from = leaf_for(list, member)
  if not from then
    from = ''
    redis.call('ZADD', list .. ':leaves', 0, '')
  elseif redis.call('ZCARD', list .. '/' .. from) >= ${LEAF_MAX} then
    if redis.call('ZSCORE', list .. '/' .. from, member) then return 0 end
    from = divided(list, from, member)
  end
  return redis.call('ZADD', list .. '/' .. from, 0, member)
end

-- Moves the members of a leaf to the one before it.
local function joined(list, before, from)
  local scored = {}
  for i, one in ipairs(redis.call('ZRANGE', list .. '/' .. from, 0, -1)) do scored[2 * i - 1], scored[2 * i] = 0, one end
  redis.call('DEL', list .. '/' .. from)
  redis.call('ZREM', list .. ':leaves', from)
  redis.call('ZADD', list .. '/' .. before, unpack(scored))
end

local function join(list, from, size)
  local function fits(other)
    return other and redis.call('ZCARD', list .. '/' .. other) + size <= ${JOINED_MAX}
  end
  local after = redis.call('ZRANGEBYLEX', list .. ':leaves', '(' .. from, '+', 'LIMIT', 0, 1)[1]
  if fits(after) then return joined(list, from, after) end
  local before = redis.call('ZREVRANGEBYLEX', list .. ':leaves', '(' .. from, '-', 'LIMIT', 0, 1)[1]
  if fits(before) then joined(list, before, from) end
end

-- @returns 1, or 0 when the tree does not have the member
local function remove_member(list, member)
  local from = leaf_for(list, member)
  if not from or redis.call('ZREM', list .. '/' .. from, member) == 0 then return 0 end
  local size = redis.call('ZCARD', list .. '/' .. from)
  if size == 0 then redis.call('ZREM', list .. ':leaves', from)
  elseif size <= ${JOINED} and size % ${JOINED / 3} == 0 then join(list, from, size) end
  return 1
end

-- Deletes a label without keys. A leaf that begins with it has one, when the next one begins with it too.
local function drop_label(list, prefix, label)
  local low, high = '[' .. bytes_of_label(label), '(' .. bytes_of_label(label + 1)
  local function is_in(from)
    return from and redis.call('ZRANGEBYLEX', list .. '/' .. from, low, high, 'LIMIT', 0, 1)[1]
  end
  if is_in(leaf_for(list, bytes_of_label(label))) then return end
  local leaves = redis.call('ZRANGEBYLEX', list .. ':leaves', low, high, 'LIMIT', 0, 2)
  if leaves[2] or is_in(leaves[1]) then return end
  redis.call('ZREM', list .. ':prefixes', prefix)
  if redis.call('ZCARD', list .. ':prefixes') > 1 then note_version(list .. ':prefixes')
  else redis.call('DEL', list .. ':prefixes') end
end

-- The members of an original with this place in the trees of all orders. False where the list itself has its position.
local function members_of(entry, place)
  local at, size = math.floor(instant_in(entry)), tonumber(size_of(entry))
  local digest, name = digest_in(entry), name_in(entry) .. '\\n' .. place
  return {
    place,
    at >= 0 and at < 2 ^ 48 and struct.pack('>I${VALUE_BYTES.storedAt}', at) .. place,
    #digest == 64 and not string.find(digest, '[^%da-f]') and struct.pack('>I4I4', tonumber(string.sub(digest, 1, 8), 16), tonumber(string.sub(digest, 9, 16), 16)) .. place,
    #name <= ${MEMBER_MAX} and name,
    size < 2 ^ 40 and struct.pack('>I${VALUE_BYTES.size}', size) .. place,
  }
end
`
