import { step } from './step.ts'

// See `step.ts` and `folder-lua.ts` for the keys and the functions. These steps have no original.

/** ARGV: name of the run, milliseconds until it expires. @returns 1, or 0 while another recount is in progress */
export const beginRecount = step(`
if redis.call('EXISTS', recount) == 1 then return 0 end
redis.call('HSET', recount, 'run', ARGV[1])
redis.call('PEXPIRE', recount, ARGV[2])
return 1
`)

/**
 * Counts the next originals of a list. ARGV: name of the run, milliseconds until it expires, state, maximum, beginning of the
 * names of hashes. @returns how many were counted, or -1 when the run has expired
 */
export const countPage = step(`
local state = ARGV[3]
if redis.call('HGET', recount, 'run') ~= ARGV[1] then return -1 end
redis.call('PEXPIRE', recount, ARGV[2])
local at = redis.call('HGET', recount, 'at ' .. state)
local keys = members_between(lists[state][1], at and '(' .. at or '-', '+', tonumber(ARGV[4]), false)
local sums = {}
for _, key in ipairs(keys) do
  local entry = original(chosen(ARGV[5] .. (id_in(key) or key), ARGV[5] .. key, key))
  if state_of(entry) == state then sum_up_folders(sums, key, record_in(entry).size) end
end
add_sums(recount, nil, state, sums, 1)
local is_last = #keys < tonumber(ARGV[4])
redis.call('HSET', recount, 'at ' .. state, is_last and '/' or keys[#keys])
return #keys
`)

/**
 * Ends a recount. ARGV: name of the run, 1 to replace wrong counters or else 0.
 * @returns the state and the folder of each wrong counter, as `<state>\n<folder>`, or nil when the run has expired
 */
export const endRecount = step(`
if redis.call('HGET', recount, 'run') ~= ARGV[1] then return false end
local function read(hash)
  local all, flat = {}, redis.call('HGETALL', hash)
  for i = 1, #flat, 2 do all[flat[i]] = flat[i + 1] end
  return all
end
local known, correct = read(folders), read(recount)
redis.call('DEL', recount)
local wrong, seen = {}, {}
local function compare(field)
  local name = string.match(field, '^(.*)\\n[^\\n]*$')
  if not name or (known[field] or '0') == (correct[field] or '0') then return end
  if not seen[name] then wrong[#wrong + 1] = name end
  seen[name] = true
  if ARGV[2] ~= '1' then return end
  if correct[field] then redis.call('HSET', folders, field, correct[field])
  else redis.call('HDEL', folders, field) end
end
for field in pairs(known) do compare(field) end
for field in pairs(correct) do compare(field) end
if ARGV[2] == '1' then
  for state, names in pairs(subfolders) do redis.call('DEL', names) end
  for field in pairs(correct) do
    local state, folder = string.match(field, '^(%a+)\\n(.+)\\nfiles$')
    if state then redis.call('ZADD', subfolders[state], 0, parent_of(folder) .. '\\n' .. name_of(folder)) end
  end
end
return wrong
`)

/** ARGV: name of the run. */
export const dropRecount = step(`
if redis.call('HGET', recount, 'run') == ARGV[1] then redis.call('DEL', recount) end
`)
