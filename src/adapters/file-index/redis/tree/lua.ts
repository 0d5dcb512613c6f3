/** The members of a leaf at most. Redis stores a sorted set of at most 128 members compactly, when each has at most 64 bytes. */
const LEAF_MAX = 128
const MEMBER_MAX = 64
// A leaf that has only so many members left, or two thirds or a third of them, is joined with a neighbour.
const JOINED = 48
const JOINED_MAX = 96
const LONG = ':long'
// A Lua function of Redis can return some thousand values.
const PART = 1000
// Fewer members are added faster one by one.
const UNION_MIN = 16

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
 * - `<list>:added`: members that are about to be added, only within a script
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
  return redis.call('ZREVRANGEBYLEX', list .. ':leaves', '[' .. member, '-', 'LIMIT', '0', '1')[1]
end

-- The first members between two bounds, as ZRANGEBYLEX takes them, or the last ones.
local function members_between(list, min, max, most, is_down)
  local range, first, last = 'ZRANGEBYLEX', min, max
  if is_down then range, first, last = 'ZREVRANGEBYLEX', max, min end
  local found, leaves = {}, list .. ':leaves'
  local from = not is_down and min ~= '-' and leaf_for(list, string.sub(min, 2))
    or redis.call(range, leaves, is_down and max or '-', is_down and '-' or max, 'LIMIT', '0', '1')[1]
  while from do
    for _, member in ipairs(redis.call(range, list .. '/' .. from, first, last, 'LIMIT', 0, most - #found)) do
      found[#found + 1] = member
    end
    if #found == most or (is_down and min ~= '-' and is_up_to(from, string.sub(min, 2))) then break end
    from = redis.call(range, leaves, '(' .. from, is_down and '-' or max, 'LIMIT', '0', '1')[1]
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
  for i, one in ipairs(members) do scored[2 * i - 1], scored[2 * i] = '0', one end
  return redis.call('ZADD', key, unpack(scored))
end

-- Divides a full leaf. Members that are added in their order fill leaves completely; those that are added in the opposite order
-- behind a full leaf do not get a leaf each. @returns the least member of the half for a member
local function divided(list, from, member)
  local leaf, leaves = list .. '/' .. from, list .. ':leaves'
  local after = redis.call('ZRANGEBYLEX', leaves, '(' .. from, '+', 'LIMIT', '0', '1')[1]
  local is_filled = not after or redis.call('ZCARD', list .. '/' .. after) >= ${LEAF_MAX / 2}
  if is_filled and is_up_to(redis.call('ZRANGE', leaf, -1, -1)[1], member) then
    redis.call('ZADD', leaves, '0', member)
    return member
  end
  local upper = redis.call('ZRANGE', leaf, ${LEAF_MAX / 2}, -1)
  add_all(list .. '/' .. upper[1], upper)
  redis.call('ZREMRANGEBYRANK', leaf, ${LEAF_MAX / 2}, -1)
  redis.call('ZADD', leaves, '0', upper[1])
  return is_up_to(upper[1], member) and upper[1] or from
end

-- @returns 1, or 0 when the list has the member
local function add_member(list, member)
  if #member > ${MEMBER_MAX} then return redis.call('ZADD', list .. ':long', '0', member) end
  local from = leaf_for(list, member)
  if not from then
    from = ''
    redis.call('ZADD', list .. ':leaves', '0', '')
  elseif redis.call('ZCARD', list .. '/' .. from) >= ${LEAF_MAX} then
    if redis.call('ZSCORE', list .. '/' .. from, member) then return 0 end
    from = divided(list, from, member)
  end
  return redis.call('ZADD', list .. '/' .. from, '0', member)
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
  local after = redis.call('ZRANGEBYLEX', list .. ':leaves', '(' .. from, '+', 'LIMIT', '0', '1')[1]
  if fits(after) then return joined(list, from, after) end
  local before = redis.call('ZREVRANGEBYLEX', list .. ':leaves', '(' .. from, '-', 'LIMIT', '0', '1')[1]
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

-- Calls visit(some) for parts of a list that are small enough for unpack().
local function in_parts(all, visit)
  for first = 1, #all, ${PART} do visit({ unpack(all, first, math.min(#all, first + ${PART} - 1)) }) end
end

-- Calls visit(from, members) for the members of each leaf, and with '${LONG}' for the long ones.
local function by_leaf(list, members, visit)
  in_parts(members, function(part)
    local groups, leaves = {}, list .. ':leaves'
    for i = 1, #part do
      local member, from = part[i], '${LONG}'
      if #member <= ${MEMBER_MAX} then
        from = '/' .. (redis.call('ZREVRANGEBYLEX', leaves, '[' .. member, '-', 'LIMIT', '0', '1')[1] or '')
      end
      local group = groups[from]
      if group then group[#group + 1] = member else groups[from] = { member } end
    end
    for from, some in pairs(groups) do visit(from, some) end
  end)
end

-- Those of some members that a key has, or those that it does not have.
local function note(noted, key, members, has)
  for i, score in ipairs(redis.call('ZMSCORE', key, unpack(members))) do
    if (score and true or false) == has then noted[members[i]] = true end
  end
end

-- Adds members to a leaf, which need not exist. Redis looks through a compact set for each member that ZADD adds. A union sorts all members
-- first, and then stores them compactly.
local function put_in(list, leaf, members)
  if #members < ${UNION_MIN} then return add_all(leaf, members) end
  local added = list .. ':added'
  redis.call('SADD', added, unpack(members))
  local before = redis.call('ZCARD', leaf)
  local size = redis.call('ZUNIONSTORE', leaf, '2', leaf, added, 'WEIGHTS', '0', '0')
  redis.call('DEL', added)
  return size - before
end

-- The same for any number of members, which divide a full leaf.
local function fill_leaf(list, from, some)
  local leaf, leaves, most = list .. '/' .. from, list .. ':leaves', nil
  local size = redis.call('ZCARD', leaf)
  -- The first leaf may be what is left of a list whose :leaves was lost.
  if size == 0 or from == '' then redis.call('ZADD', leaves, '0', from) end
  local last = size + #some > ${LEAF_MAX} and redis.call('ZRANGE', leaf, -1, -1)[1]
  if size + put_in(list, leaf, some) <= ${LEAF_MAX} then return end
  local all = redis.call('ZRANGE', leaf, 0, -1)
  -- As in divided().
  local after = redis.call('ZRANGEBYLEX', leaves, '(' .. from, '+', 'LIMIT', '0', '1')[1]
  if all[size] == last and (not after or redis.call('ZCARD', list .. '/' .. after) >= ${LEAF_MAX / 2}) then most = ${LEAF_MAX}
  else most = math.ceil(#all / math.ceil(#all / ${LEAF_MAX})) end
  for first = 1, #all, most do
    local part = { unpack(all, first, math.min(#all, first + most - 1)) }
    local into = first == 1 and leaf or list .. '/' .. part[1]
    -- Redis would not store the divided leaf compactly any more. A new one may have been left behind outside the list.
    redis.call('DEL', into)
    put_in(list, into, part)
    if first > 1 then redis.call('ZADD', leaves, '0', part[1]) end
  end
end

-- Adds many members: those of a leaf at once. @param known gets as fields those that the list had, unless it is nil
local function add_members(list, members, known)
  by_leaf(list, members, function(from, some)
    if known then note(known, list .. from, some, true) end
    if from == '${LONG}' then add_all(list .. from, some) else fill_leaf(list, string.sub(from, 2), some) end
  end)
end

-- Removes many members. The first write takes no memory. @param missing gets as fields those that the list did not have, unless it is nil
local function remove_members(list, members, missing)
  local removed = {}
  by_leaf(list, members, function(from, some)
    if missing then note(missing, list .. from, some, false) end
    removed[from] = (removed[from] or 0) + redis.call('ZREM', list .. from, unpack(some))
  end)
  removed['${LONG}'] = nil
  for from, count in pairs(removed) do
    local leaf = string.sub(from, 2)
    local size = redis.call('ZCARD', list .. from)
    if size == 0 then redis.call('ZREM', list .. ':leaves', leaf)
    elseif size <= ${JOINED} and math.ceil(3 * size / ${JOINED}) < math.ceil(3 * (size + count) / ${JOINED}) then
      join(list, leaf, size)
    end
  end
end
`
