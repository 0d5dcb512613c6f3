/**
 * The numbers of a block: a number within it takes two bytes. All numbers of a client in a partition are divided into
 * blocks, in their order.
 */
export const BLOCK = 65_536
/** The numbers whose places are in one hash. Redis stores a hash of at most 128 fields compactly, which is four for each place. */
export const GROUP = 32
/** The bytes of a place in one field: as many as Redis stores compactly. */
export const PIECE = 64
/** The field of a file's hash with its number and its digest. */
export const NUMBER_FIELD = 'n'
/** The bytes of the number in this field. The rest is the beginning of the digest of the texts. */
export const NUMBER_BYTES = 5
export const DIGEST_BYTES = 4
// Fewer dead numbers are not worth the work.
const WASTE_MIN = 1024

/** Whether so few numbers of a block are alive that the others are dropped. */
export const WASTE = `
local function is_waste(drawn, living)
  return living <= 0 or (drawn - living >= ${WASTE_MIN} and drawn > 4 * living)
end
`

/**
 * The search of originals, as a part of each step. Each listed original has a number. An original with other texts (its folded
 * name and its tags) gets another number, so a number never changes its meaning. A number that is not used any more is dead.
 *
 * KEYS[19] is a hash: the next number of the client (`next`), and how many numbers are alive in each block that has postings. Its name is
 * the beginning of the names of these keys:
 *
 * - `<block>:<term>`: a posting, the numbers in a block that have a term, without their block: two bytes each, or a bitmap, see
 *   `postings.ts`. A term is three bytes of a folded name, or a line break and a tag
 * - `terms:<block>`: a list of all terms that have a posting in a block
 * - `places:<group>`: a hash of the places of 32 living numbers, see `../lists/lua.ts`. The fields are the number within the group, and
 *   for the further pieces of 64 bytes of a long place this number plus 32, 64, …
 *
 * KEYS[20] is a set of the blocks for `tidy.ts`, by the beginning of the names of their postings.
 *
 * A dead number remains in its postings, and a search finds no place for it.
 */
export const SEARCH = `
local search, untidy = KEYS[19], KEYS[20]

${WASTE}
-- The pieces of a place, as pairs of a field and a value.
local function pieces_of(number, place)
  local pieces, field = {}, number % ${GROUP}
  for from = 1, #place, ${PIECE} do
    pieces[#pieces + 1] = field
    pieces[#pieces + 1] = string.sub(place, from, from + ${PIECE} - 1)
    field = field + ${GROUP}
  end
  return search .. 'places:' .. math.floor(number / ${GROUP}), pieces
end

-- Counts numbers of a block as dead.
local function retire(block, dead)
  local living = redis.call('HINCRBY', search, block, -dead)
  local drawn = math.min(${BLOCK}, redis.call('HGET', search, 'next') - block * ${BLOCK})
  if is_waste(drawn, living) then redis.call('SADD', untidy, search .. block) end
end

-- @param value of the field of a file
local function number_in(value)
  return struct.unpack('>I${NUMBER_BYTES}', value), string.sub(value, ${NUMBER_BYTES + 1})
end

local function number_of(in_file)
  local known = redis.call('HGET', in_file, '${NUMBER_FIELD}')
  if known then return number_in(known) end
end

-- Forgets the numbers of files, each of which has a number and a place.
local function forget_numbers(all)
  local dead = {}
  for _, one in ipairs(all) do
    local places, pieces = pieces_of(one.number, one.place)
    if redis.call('HGET', places, pieces[1]) == pieces[2] then
      local fields, block = {}, math.floor(one.number / ${BLOCK})
      for i = 1, #pieces, 2 do fields[#fields + 1] = pieces[i] end
      redis.call('HDEL', places, unpack(fields))
      dead[block] = (dead[block] or 0) + 1
    end
  end
  for block, numbers in pairs(dead) do retire(block, numbers) end
end

-- The first write takes no memory: a full Redis would refuse it.
local function leave_search(in_file, place)
  local number = number_of(in_file)
  if not number then return end
  redis.call('HDEL', in_file, '${NUMBER_FIELD}')
  forget_numbers({ { number = number, place = place } })
end

-- Calls visit(term) for the terms of texts, some of them several times.
local function each_term(texts, visit)
  local name, tags = string.match(texts, '^([^\\n]*)(.*)$')
  for i = 1, #name - 2 do visit(string.sub(name, i, i + 2)) end
  for tag in string.gmatch(tags, '(\\n[^\\n]*)') do visit(tag) end
end

-- The beginning of the digest of texts.
local function digest_of(texts)
  return struct.pack('>I${DIGEST_BYTES}', tonumber(string.sub(redis.sha1hex(texts), 1, ${2 * DIGEST_BYTES}), 16))
end

-- Gives each file the next number. Each has a place and texts. The caller sets the field of its hash to number_field, as the last
-- write: with this digest, it is found by all its terms.
local function draw_numbers(all)
  if not all[1] then return end
  local first, groups, blocks = redis.call('HINCRBY', search, 'next', #all) - #all, {}, {}
  for i, one in ipairs(all) do
    local number = first + i - 1
    local block, ordinal = math.floor(number / ${BLOCK}), struct.pack('>I2', number % ${BLOCK})
    local group, pieces = pieces_of(number, one.place)
    local fields = groups[group] or {}
    groups[group] = fields
    for _, piece in ipairs(pieces) do fields[#fields + 1] = piece end
    if not blocks[block] then
      blocks[block] = { files = 0, postings = {} }
      if number == block * ${BLOCK} and number > 0 then redis.call('SADD', untidy, search .. block - 1) end
    end
    blocks[block].files = blocks[block].files + 1
    local postings = blocks[block].postings
    each_term(one.texts, function(term)
      local posting = postings[term]
      if not posting then postings[term] = { ordinal }
      elseif posting[#posting] ~= ordinal then posting[#posting + 1] = ordinal end
    end)
    one.number_field = struct.pack('>I${NUMBER_BYTES}', number) .. digest_of(one.texts)
  end
  for group, fields in pairs(groups) do redis.call('HSET', group, unpack(fields)) end
  for block, added in pairs(blocks) do
    redis.call('HINCRBY', search, block, added.files)
    local start, terms = search .. block .. ':', {}
    for term, ordinals in pairs(added.postings) do
      if redis.call('APPEND', start .. term, table.concat(ordinals)) == 2 * #ordinals then terms[#terms + 1] = term end
    end
    in_parts(terms, function(some) redis.call('RPUSH', search .. 'terms:' .. block, unpack(some)) end)
  end
end

local function draw_number(in_file, place, texts)
  local one = { place = place, texts = texts }
  draw_numbers({ one })
  redis.call('HSET', in_file, '${NUMBER_FIELD}', one.number_field)
end

-- Whether the original has a living number, drawn for these texts. The places of numbers may be lost, for example deleted by an operator.
local function is_entered(in_file, place, texts)
  local number, digest = number_of(in_file)
  if digest ~= digest_of(texts) then return false end
  local places, pieces = pieces_of(number, place)
  return redis.call('HGET', places, pieces[1]) == pieces[2]
end

local function enter_search(in_file, place, texts)
  if is_entered(in_file, place, texts) then return end
  leave_search(in_file, place)
  draw_number(in_file, place, texts)
end
`
