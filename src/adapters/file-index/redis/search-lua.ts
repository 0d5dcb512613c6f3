import { TERM_CHARACTERS } from '../search-terms.ts'

/**
 * The search of originals, as a part of each step.
 *
 * KEYS[19] is a hash with the texts of each of the client's originals, by key: the folded name and the tags, with line breaks
 * between them. They come from the caller, since scripts cannot fold all letters.
 *
 * KEYS[20] is a sorted set of `<term>\n<key>` in which all scores are 0. For the terms, see `../search-terms.ts`.
 */
export const SEARCH = `
local search_texts, search_terms = KEYS[19], KEYS[20]

-- The terms of an original, as pairs of a score and a member.
local function scored_terms(key, texts)
  local name, tags = string.match(texts, '^([^\\n]*)(.*)$')
  local starts, scored = {}, {}
  for i = 1, #name do
    local byte = string.byte(name, i)
    -- The other bytes continue a character.
    if byte < 128 or byte > 191 then starts[#starts + 1] = i end
  end
  local function add(term)
    scored[#scored + 1] = 0
    scored[#scored + 1] = term .. '\\n' .. key
  end
  for i = 1, #starts, 2 do
    local from = starts[i]
    local term = string.sub(name, from, (starts[i + ${TERM_CHARACTERS}] or #name + 1) - 1)
    add('n' .. term .. '\\n' .. string.sub(name, starts[i - 1] or from, from - 1))
  end
  for tag in string.gmatch(tags, '\\n([^\\n]*)') do add('t' .. tag) end
  return scored
end

-- An original that an older version has stored has no texts.
local function leave_search(key)
  local texts = redis.call('HGET', search_texts, key)
  if not texts then return end
  local scored, members = scored_terms(key, texts), {}
  for i = 2, #scored, 2 do members[#members + 1] = scored[i] end
  if members[1] then redis.call('ZREM', search_terms, unpack(members)) end
  redis.call('HDEL', search_texts, key)
end

local function enter_search(key, texts)
  if redis.call('HGET', search_texts, key) == texts then return end
  leave_search(key)
  redis.call('HSET', search_texts, key, texts)
  local scored = scored_terms(key, texts)
  if scored[1] then redis.call('ZADD', search_terms, unpack(scored)) end
end
`
