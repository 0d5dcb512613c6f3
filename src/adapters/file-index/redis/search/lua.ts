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

-- Counts a number as dead.
local function retire(number)
  local block = math.floor(number / ${BLOCK})
  local living = redis.call('HINCRBY', search, block, -1)
  local drawn = math.min(${BLOCK}, redis.call('HGET', search, 'next') - block * ${BLOCK})
  if is_waste(drawn, living) then redis.call('SADD', untidy, search .. block) end
end

local function number_of(in_file)
  local known = redis.call('HGET', in_file, '${NUMBER_FIELD}')
  if known then return struct.unpack('>I${NUMBER_BYTES}', known), string.sub(known, ${NUMBER_BYTES + 1}) end
end

local function forget_number(number, place)
  local places, pieces = pieces_of(number, place)
  local fields = {}
  if redis.call('HGET', places, pieces[1]) ~= pieces[2] then return end
  for i = 1, #pieces, 2 do fields[#fields + 1] = pieces[i] end
  redis.call('HDEL', places, unpack(fields))
  retire(number)
end

-- The first write takes no memory: a full Redis would refuse it.
local function leave_search(in_file, place)
  local number = number_of(in_file)
  if not number then return end
  redis.call('HDEL', in_file, '${NUMBER_FIELD}')
  forget_number(number, place)
end

local function terms_of(texts)
  local name, tags = string.match(texts, '^([^\\n]*)(.*)$')
  local terms, seen = {}, {}
  local function add(term)
    if not seen[term] then terms[#terms + 1] = term end
    seen[term] = true
  end
  for i = 1, #name - 2 do add(string.sub(name, i, i + 2)) end
  for tag in string.gmatch(tags, '(\\n[^\\n]*)') do add(tag) end
  return terms
end

-- The beginning of the digest of texts.
local function digest_of(texts)
  return struct.pack('>I${DIGEST_BYTES}', tonumber(string.sub(redis.sha1hex(texts), 1, ${2 * DIGEST_BYTES}), 16))
end

local function draw_number(in_file, place, texts)
  local number = redis.call('HINCRBY', search, 'next', 1) - 1
  local block = math.floor(number / ${BLOCK})
  local ordinal = struct.pack('>I2', number % ${BLOCK})
  redis.call('HINCRBY', search, block, 1)
  if number == block * ${BLOCK} and number > 0 then redis.call('SADD', untidy, search .. block - 1) end
  local places, pieces = pieces_of(number, place)
  redis.call('HSET', places, unpack(pieces))
  for _, term in ipairs(terms_of(texts)) do
    if redis.call('APPEND', search .. block .. ':' .. term, ordinal) == 2 then
      redis.call('RPUSH', search .. 'terms:' .. block, term)
    end
  end
  -- Written last: with this digest, the file is found by all its terms.
  redis.call('HSET', in_file, '${NUMBER_FIELD}', struct.pack('>I${NUMBER_BYTES}', number) .. digest_of(texts))
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
