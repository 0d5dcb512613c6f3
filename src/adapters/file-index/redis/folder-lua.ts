/**
 * Counters of folders, as a part of each step.
 *
 * KEYS[15] is a hash with the counters of the client's folders: its fields are `<state>\n<folder>\n<counter>` with the counters
 * `files`, `bytes` and `directFiles`. The top is the empty folder. A folder without files has no fields.
 *
 * KEYS[16] and KEYS[17] are the folders with stored and with trashed originals: sorted sets of `<parent>\n<name>`, whose scores
 * are 0. No folder has a line break.
 *
 * KEYS[18] is the hash of a recount in progress, which expires when its process has died. It has the same fields as KEYS[15],
 * `run` with the name of the recount, and `at <state>` with the position up to which the originals are counted. Behind the last
 * position it is `/`, since no position begins with a slash: then all originals are counted.
 */
export const FOLDERS = `
local folders, recount = KEYS[15], KEYS[18]
local subfolders = { stored = KEYS[16], trashed = KEYS[17] }

local function integer_text(number)
  return string.format('%.0f', number)
end

local function parent_of(folder)
  return string.match(folder, '^(.*)/[^/]*$') or ''
end

local function name_of(folder)
  return string.match(folder, '([^/]*)$')
end

-- Adds an original to the sums of its folder and of all above it, which are by folder.
local function sum_up_folders(sums, key, size)
  local folder = string.match(key, '^(.*)/[^/]+/[^/]+/[^/]+$') or ''
  local direct = 1
  while true do
    local sum = sums[folder]
    if not sum then
      sum = { files = 0, bytes = 0, direct = 0 }
      sums[folder] = sum
    end
    sum.files, sum.bytes, sum.direct = sum.files + 1, sum.bytes + size, sum.direct + direct
    if folder == '' then return end
    folder, direct = parent_of(folder), 0
  end
end

-- Adds sums to the counters in a hash, or subtracts them. Bytes are text: a number would lose digits.
local function add_sums(hash, names, state, sums, sign)
  for folder, sum in pairs(sums) do
    local field = state .. '\\n' .. folder .. '\\n'
    local member = names and folder ~= '' and parent_of(folder) .. '\\n' .. name_of(folder)
    local files = redis.call('HINCRBY', hash, field .. 'files', sign * sum.files)
    if files <= 0 then
      redis.call('HDEL', hash, field .. 'files', field .. 'bytes', field .. 'directFiles')
      if member then redis.call('ZREM', names, member) end
    else
      if sum.bytes > 0 then redis.call('HINCRBY', hash, field .. 'bytes', integer_text(sign * sum.bytes)) end
      if sum.direct > 0 then redis.call('HINCRBY', hash, field .. 'directFiles', sign * sum.direct) end
      if member and files == sum.files then redis.call('ZADD', names, 0, member) end
    end
  end
end

-- Counts originals, each of which has a key and a size, in their folders. @param sign 1, or -1 to subtract them
local function count_folders(state, all, sign)
  local sums, recounted, at = {}, {}, redis.call('HGET', recount, 'at ' .. state)
  for _, one in ipairs(all) do
    sum_up_folders(sums, one.key, one.size)
    if at and (at == '/' or is_up_to(one.key, at)) then sum_up_folders(recounted, one.key, one.size) end
  end
  add_sums(folders, subfolders[state], state, sums, sign)
  add_sums(recount, nil, state, recounted, sign)
end
`
