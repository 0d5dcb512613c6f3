import { step } from '../step.ts'
import { LABEL_BYTES } from './lua.ts'
import { TREE_KEYS } from './tree-keys.ts'

// See `../step.ts` for the keys, the arguments and the functions of all steps.

/** Several originals. ARGV: refs, the state of the list in which version 1.0 has them. Moves them into the trees. */
export const replant = step(`
local several = #KEYS - FIRST + 1
local state = ARGV[several + 1]
-- The first write takes no memory: a full Redis would refuse it. No original has an empty key.
redis.call('ZREM', lists[state][1], '')
for i = 1, several do
  local entry = original(KEYS[FIRST - 1 + i])
  if state_of(entry) == state then enlist(ARGV[i], entry) else redis.call('ZREM', lists[state][1], key_of(ARGV[i])) end
end
`)

/** ARGV: nothing, state, order, a leaf, the beginning of the names of the hashes. Removes members that differ from their entries. */
export const reviewLeaf = step(`${TREE_KEYS}
local state, order = ARGV[2], tonumber(ARGV[3])
local list, prefixes = lists[state][order], lists[state][1] .. ':prefixes'
for _, member in ipairs(redis.call('ZRANGE', list .. '/' .. ARGV[4], 0, -1)) do
  local place = place_in(member, order)
  local key = key_at(prefixes, place)
  local entry = key and original(ARGV[5] .. key)
  if state_of(entry) ~= state or members_of(entry, place)[order] ~= member then
    remove_member(list, member)
    if order == 1 and key then drop_label(list, parts_of(key), struct.unpack('>I${LABEL_BYTES}', place)) end
  end
end
`)
