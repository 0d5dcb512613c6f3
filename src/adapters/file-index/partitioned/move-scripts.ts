import { redisScript } from '../../redis/script.ts'
import { SUM_FIELD } from '../redis/entries/derivatives.ts'
import { NUMBER_FIELD } from '../redis/search/lua.ts'
import { step } from '../redis/step.ts'

// Steps that move files from one partition to another, see `redis/step.ts` for the keys and the functions, and `../fence.ts` for their
// epoch. They take several files of one client. Each may be repeated. Redis spends nearly all the time on the commands of a script and on
// Lua, so what many files have in common is written by one command.

/**
 * Reads files. ARGV: refs, the number of values after which no more files are read.
 * @returns for each file a flat list: the fields of its hash with their values, except for the number in the search and the sum of
 *   bytes; and for each entry that is not settled a line break, followed by the name of a derivative, and the instant at which it is
 *   overdue. A list is empty when the partition does not have the file, and lacks the empty name when it has only derivatives. There
 *   are fewer lists than files when these have many values
 */
export const readFiles = step(
  `
local files, most = {}, tonumber(ARGV[#ARGV])
for i = 1, originals do
  file, ref = file_at(i)
  local all, found = redis.call('HGETALL', file), {}
  local function add(name, value)
    local filled = #found
    found[filled + 1], found[filled + 2] = name, value
  end
  for j = 1, #all, 2 do
    local name, value = all[j], all[j + 1]
    if name ~= '${NUMBER_FIELD}' and name ~= '${SUM_FIELD}' then add(name, value) end
    if (name == '' or string.sub(name, 1, 1) == '_') and state_of(value) ~= 'stored' then
      local due = '\\n' .. name
      local instant = redis.call('ZSCORE', unsettled, name == '' and ref or ref .. due)
      if instant then add(due, instant) end
    end
  end
  files[i] = found
  most = most - #found
  if most <= 0 then break end
end
return files
`,
  { replies: 'bytes' },
)

const CODE = { lineBreak: 10, derivative: '_'.charCodeAt(0) } as const

// What these steps know of a file, by values from first to last of a list as readFiles returns it, or as the hash has it.
const FILES = `
local function file_in(values, first, last)
  local one, pieces, fields, dues, used = { in_file = file }, {}, {}, {}, {}
  local filled = 0
  for i = first, last, 2 do
    local name, value = values[i], values[i + 1]
    local letter = string.byte(name)
    if letter == ${CODE.lineBreak} then
      dues[#dues + 1] = value
      dues[#dues + 1] = name == '\\n' and ref or ref .. name
    else
      pieces[name], fields[filled + 1], fields[filled + 2], filled = value, name, value, filled + 2
    end
    if letter == ${CODE.derivative} and state_of(value) == 'stored' then used[#used + 1] = { use_member(name, value), bytes_of(value) } end
  end
  local key = key_of(ref)
  one.fields, one.dues, one.uses = fields, dues, used
  one.place, one.number_field = place_of(file, key), pieces['${NUMBER_FIELD}']
  one.entry = pieces[''] and pieces[''] .. (pieces[PIECES[2]] or '') .. (pieces[PIECES[3]] or '')
  one.listing = one.entry and listing_of(file, key, one.entry)
  return one
end

-- The listings of files.
local function listings_of(all)
  local listings = {}
  for _, one in ipairs(all) do listings[#listings + 1] = one.listing end
  return listings
end

-- Adds the stored derivatives of files to the list by their last use, or removes them. @returns the bytes that this has added or removed
local function list_uses(all, change)
  local members, unchanged, bytes = {}, {}, 0
  for _, one in ipairs(all) do
    for _, use in ipairs(one.uses) do members[#members + 1] = use[1] end
  end
  change(uses, members, unchanged)
  for _, one in ipairs(all) do
    one.bytes = 0
    for _, use in ipairs(one.uses) do if not unchanged[use[1]] then one.bytes = one.bytes + use[2] end end
    bytes = bytes + one.bytes
  end
  return bytes
end
`

const ADD = `
${FILES}
local at, added, found, taken, left = originals + 1, {}, {}, {}, {}
local has_deleted, is_new = redis.call('EXISTS', deleted) == 1, redis.call('EXISTS', unpack(KEYS, FIRST)) == 0
-- Everything is read before the first write, so an entry that cannot be read changes nothing.
for i = 1, originals do
  ref = ARGV[i]
  if is_new then file = KEYS[FIRST + 2 * i - 2] else file = file_at(i) end
  -- Another file with the same id has the short name.
  if (taken[file] or ref) ~= ref then file = KEYS[FIRST + 2 * i - 1] end
  local texts, first, last = ARGV[at], at + 2, at + 1 + tonumber(ARGV[at + 1])
  at = last + 1
  local is_deleted = has_deleted and redis.call('SISMEMBER', deleted, key_of(ref)) == 1
  if not taken[file] and (is_new or not original()) and not is_deleted then
    if not is_new and redis.call('EXISTS', file) == 1 then left[#left + 1] = { file, ref } end
    taken[file] = ref
    local one = file_in(ARGV, first, last)
    one.texts, added[#added + 1] = texts, one
    if one.listing then found[#found + 1] = one end
  end
end
-- What is left of files that have lost their originals.
for _, one in ipairs(left) do
  file, ref = one[1], one[2]
  forget()
end
sum_up_client(list_uses(added, add_members))
draw_numbers(found)
for _, one in ipairs(added) do
  local function add(name, value)
    local filled = #one.fields
    one.fields[filled + 1], one.fields[filled + 2] = name, value
  end
  if one.number_field then add('${NUMBER_FIELD}', one.number_field) end
  if one.bytes > 0 then add('${SUM_FIELD}', string.format('%.0f', one.bytes)) end
  in_parts(one.fields, function(part) redis.call('HSET', one.in_file, unpack(part)) end)
  in_parts(one.dues, function(part) redis.call('ZADD', unsettled, unpack(part)) end)
end
list_all(listings_of(added), add_members, 1)
`

/**
 * Adds files as {@link readFiles} has returned them. One that this partition has is unchanged, and one that was deleted since the
 * move began is not added. ARGV: refs, then for each file its search texts, the length of its list, and the list.
 */
export const addFiles = step(ADD)

/**
 * The same, also in a full Redis: it refuses a script whose first write takes memory. For a change of these files. Otherwise a full
 * Redis would refuse deletes. The old partition frees as much memory.
 */
export const addFilesToChange = step(`redis.call('ZREM', unsettled, '')${ADD}`)

/** Removes files that are in another partition. ARGV: refs. */
export const dropFiles = step(`
${FILES}
local dropped, settled, numbers, taken = {}, {}, {}, {}
for i = 1, originals do
  file, ref = file_at(i)
  local values = taken[file] and {} or redis.call('HGETALL', file)
  local one = file_in(values, 1, #values)
  taken[file], dropped[i] = true, one
  settled[#settled + 1] = ref
  for j = 1, #values, 2 do
    if string.sub(values[j], 1, 1) == '_' then settled[#settled + 1] = ref .. '\\n' .. values[j] end
  end
  if one.number_field then numbers[#numbers + 1] = { number = (number_in(one.number_field)), place = one.place } end
end
-- The first write takes no memory: a full Redis would refuse it.
in_parts(settled, function(part) redis.call('ZREM', unsettled, unpack(part)) end)
sum_up_client(-list_uses(dropped, remove_members))
forget_numbers(numbers)
list_all(listings_of(dropped), remove_members, -1)
for _, one in ipairs(dropped) do redis.call('DEL', one.in_file) end
`)

/**
 * The division of a client as text. KEYS: the division, the fence of the same partition. ARGV: the division to store for a new
 * client, or an empty text; the least epoch. When the stored one has a smaller epoch, the node has lost the last changes of the
 * division: then it gets a greater one, which is odd during a move. @returns the text, empty when there is no division
 */
export const readDivision = redisScript(`
local text, least = redis.call('GET', KEYS[1]), tonumber(ARGV[2])
if not text then
  if ARGV[1] == '' then return '' end
  text = ARGV[1]
  redis.call('SET', KEYS[1], text)
end
local numbers, epoch = string.match(text, '^([%d>]+)@?(%d*)$')
if not numbers or tonumber('0' .. epoch) >= least then return text end
local is_moving = string.find(numbers, '>', 1, true) and 1 or 0
epoch = string.format('%.0f', least + (least + is_moving) % 2)
text = numbers .. '@' .. epoch
-- The first write takes no memory: a full Redis would refuse it.
redis.call('UNLINK', KEYS[2] .. 'deleted')
redis.call('SET', KEYS[1], text)
redis.call('SET', KEYS[2], epoch)
return text
`)

/** KEYS: the division, the fence of the same partition. ARGV: the current division, the next one, its epoch. @returns 1, or 0 when the current one differs */
export const changeDivision = redisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('UNLINK', KEYS[2] .. 'deleted')
redis.call('SET', KEYS[1], ARGV[2])
redis.call('SET', KEYS[2], ARGV[3])
return 1
`)
