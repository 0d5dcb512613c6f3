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

local function parent_of(folder)
  return string.match(folder, '^(.*)/[^/]*$') or ''
end

local function name_of(folder)
  return string.match(folder, '([^/]*)$')
end

-- Adds an original to the counters in a hash, or subtracts it. The size is text: a number would lose digits.
local function add_to(hash, names, state, key, size, sign)
  local own = string.match(key, '^(.*)/[^/]+/[^/]+/[^/]+$') or ''
  local folder = own
  while true do
    local field = state .. '\\n' .. folder .. '\\n'
    local member = folder ~= '' and parent_of(folder) .. '\\n' .. name_of(folder)
    if redis.call('HINCRBY', hash, field .. 'files', sign) <= 0 then
      redis.call('HDEL', hash, field .. 'files', field .. 'bytes', field .. 'directFiles')
      if names and member then redis.call('ZREM', names, member) end
    else
      if size ~= '0' then redis.call('HINCRBY', hash, field .. 'bytes', (sign < 0 and '-' or '') .. size) end
      if folder == own then redis.call('HINCRBY', hash, field .. 'directFiles', sign) end
      if names and member then redis.call('ZADD', names, 0, member) end
    end
    if folder == '' then return end
    folder = parent_of(folder)
  end
end

local function count_folders(state, key, size, sign)
  add_to(folders, subfolders[state], state, key, size, sign)
  local at = redis.call('HGET', recount, 'at ' .. state)
  if at and (at == '/' or is_up_to(key, at)) then add_to(recount, nil, state, key, size, sign) end
end
`
