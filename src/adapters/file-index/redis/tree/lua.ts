/** The members of a leaf at most. Redis stores a sorted set of at most 128 members compactly, when each has at most 64 bytes. */
const LEAF_MAX = 128
const MEMBER_MAX = 64
// A leaf that has only so many members left, or two thirds or a third of them, is joined with a neighbour.
const JOINED = 48
const JOINED_MAX = 96

/**
 * A list: a set of members, which are sorted by their bytes. It takes about a fifth of the memory of one sorted set, whose members
 * cost about 100 bytes each in addition to their own.
 *
 * The members of up to 64 bytes are in leaves, sorted sets of at most 128 members that Redis stores compactly. Longer members are
 * in one sorted set. All scores are 0. These keys begin with the name of the list:
 *
 * - `<list>:leaves`: a sorted set of the least member that each leaf may have. That of the first leaf may be the empty text
 * - `<list>/<least member>`: a leaf
 * - `<list>:long`: the longer members
 *
 * A list without members has no keys. To delete a list, remove its members, or delete the leaves before `:leaves`: a leaf outside it
 * would be found again later.
 *
 * These functions read lists.
 */
export const TREE_READS = `
-- Compares bytes, as sorted sets do. The operators of Lua depend on the locale of Redis.
local function is_up_to(one, other)
  local from = 1
  while from <= #one and string.sub(one, from, from + 15) == string.sub(other, from, from + 15) do from = from + 16 end
  for i = from, math.min(#one, #other) do
    local byte, by = string.byte(one, i), string.byte(other, i)
    if byte ~= by then return byte < by end
  end
  return #one <= #other
end

-- The least member of the leaf for a member, or nil.
local function leaf_for(list, member)
  return redis.call('ZREVRANGEBYLEX', list .. ':leaves', '[' .. member, '-', 'LIMIT', 0, 1)[1]
end

-- The first members between two bounds, as ZRANGEBYLEX takes them, or the last ones.
local function members_between(list, min, max, most, is_down)
  local range, first, last = 'ZRANGEBYLEX', min, max
  if is_down then range, first, last = 'ZREVRANGEBYLEX', max, min end
  local found, leaves = {}, list .. ':leaves'
  local from = not is_down and min ~= '-' and leaf_for(list, string.sub(min, 2))
    or redis.call(range, leaves, is_down and max or '-', is_down and '-' or max, 'LIMIT', 0, 1)[1]
  while from do
    for _, member in ipairs(redis.call(range, list .. '/' .. from, first, last, 'LIMIT', 0, most - #found)) do
      found[#found + 1] = member
    end
    if #found == most or (is_down and min ~= '-' and is_up_to(from, string.sub(min, 2))) then break end
    from = redis.call(range, leaves, '(' .. from, is_down and '-' or max, 'LIMIT', 0, 1)[1]
  end
  local long = redis.call(range, list .. ':long', first, last, 'LIMIT', 0, most)
  if not long[1] then return found end
  local merged, i, j = {}, 1, 1
  while #merged < most and (found[i] or long[j]) do
    if not long[j] or (found[i] and is_up_to(found[i], long[j]) == not is_down) then
      merged[#merged + 1], i = found[i], i + 1
    else
      merged[#merged + 1], j = long[j], j + 1
    end
  end
  return merged
end
`

/** Functions that change lists. They follow {@link TREE_READS}. */
export const TREE_CHANGES = `
local function add_all(key, members)
  local scored = {}
  for i, one in ipairs(members) do scored[2 * i - 1], scored[2 * i] = 0, one end
  redis.call('ZADD', key, unpack(scored))
end

-- Divides a full leaf. Members that are added in their order fill leaves completely; those that are added in the opposite order
-- behind a full leaf do not get a leaf each. @returns the least member of the half for a member
local function divided(list, from, member)
  local leaf, leaves = list .. '/' .. from, list .. ':leaves'
  local after = redis.call('ZRANGEBYLEX', leaves, '(' .. from, '+', 'LIMIT', 0, 1)[1]
  local is_filled = not after or redis.call('ZCARD', list .. '/' .. after) >= ${LEAF_MAX / 2}
  if is_filled and is_up_to(redis.call('ZRANGE', leaf, -1, -1)[1], member) then
    redis.call('ZADD', leaves, 0, member)
    return member
  end
  local upper = redis.call('ZRANGE', leaf, ${LEAF_MAX / 2}, -1)
  add_all(list .. '/' .. upper[1], upper)
  redis.call('ZREMRANGEBYRANK', leaf, ${LEAF_MAX / 2}, -1)
  redis.call('ZADD', leaves, 0, upper[1])
  return is_up_to(upper[1], member) and upper[1] or from
end

-- @returns 1, or 0 when the list has the member
local function add_member(list, member)
  if #member > ${MEMBER_MAX} then return redis.call('ZADD', list .. ':long', 0, member) end
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
  local members = redis.call('ZRANGE', list .. '/' .. from, 0, -1)
  redis.call('DEL', list .. '/' .. from)
  redis.call('ZREM', list .. ':leaves', from)
  -- A leaf may have been lost.
  if members[1] then add_all(list .. '/' .. before, members) end
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

-- The first write takes no memory, so a full Redis does not refuse it. @returns 1, or 0 when the list does not have the member
local function remove_member(list, member)
  if #member > ${MEMBER_MAX} then return redis.call('ZREM', list .. ':long', member) end
  local from = leaf_for(list, member) or ''
  if redis.call('ZREM', list .. '/' .. from, member) == 0 then return 0 end
  local size = redis.call('ZCARD', list .. '/' .. from)
  if size == 0 then redis.call('ZREM', list .. ':leaves', from)
  elseif size <= ${JOINED} and size % ${JOINED / 3} == 0 then join(list, from, size) end
  return 1
end
`
