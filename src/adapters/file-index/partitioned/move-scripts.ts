import { redisScript } from '../../redis/script.ts'
import { step } from '../redis/step.ts'

// Steps that move files from one partition to another, see `redis/step.ts` for the keys and the functions, and `../fence.ts` for their
// epoch. They take several files of one client. Each may be repeated.

const EACH_FILE = `
for i = 1, originals do
  file, ref = file_at(i)
`

/**
 * Reads files. ARGV: refs, the number of fields after which no more files are read.
 * @returns for each file a flat list with the name of each entry, the entry, and the instant at which it is overdue, empty when it is
 *   settled. The original is first, with the empty name. A list is empty when the partition does not have the file, and begins with
 *   another name when it has only derivatives. There are fewer lists than files when these have many fields
 */
export const readFiles = step(
  `
local files, most = {}, tonumber(ARGV[#ARGV])
${EACH_FILE}
  local found = {}
  local function add(name, value)
    found[#found + 1] = name
    found[#found + 1] = value
    found[#found + 1] = redis.call('ZSCORE', unsettled, name == '' and ref or ref .. '\\n' .. name) or ''
  end
  local entry = original()
  if entry then add('', entry) end
  each_derivative(add)
  files[i] = found
  most = most - #found / 3
  if most <= 0 then break end
end
return files
`,
  { replies: 'bytes' },
)

const ADD = `
local at = originals + 1
${EACH_FILE}
  local texts, first, last = ARGV[at], at + 2, at + 1 + tonumber(ARGV[at + 1])
  at = last + 1
  if not original() and redis.call('SISMEMBER', deleted, key_of(ref)) == 0 then
    for j = first, last, 3 do
      local name, entry, due = ARGV[j], ARGV[j + 1], ARGV[j + 2]
      if name == '' then set(entry, file, ref, texts)
      else set_derivative(name, entry) end
      if due ~= '' then redis.call('ZADD', unsettled, due, name == '' and ref or ref .. '\\n' .. name) end
    end
  end
end
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
${EACH_FILE}
  local entry = original()
  if entry then delist(file, key_of(ref), entry) end
  each_derivative(function(name) redis.call('ZREM', unsettled, ref .. '\\n' .. name) end)
  forget()
end
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
