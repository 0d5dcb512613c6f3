import { USE_BYTES } from './derivatives.ts'
import { ONE_BYTE_MAX } from './packed.ts'
import { PIECE, PIECES } from './pieces.ts'

/** Entries in scripts, see `originals.ts` and `derivatives.ts`. */
export const ENTRIES = `
local PIECES = { ${PIECES.map((piece) => `'${piece}'`).join(', ')} }
local GONE = 'x'
local STATES = { p = 'pending', s = 'stored', t = 'trashed', g = 'going', x = 'gone' }

-- @returns the number, and where the next part begins
local function number_at(entry, at)
  local first = string.byte(entry, at)
  if first <= ${ONE_BYTE_MAX} then return first, at + 1 end
  return struct.unpack('>I' .. first - ${ONE_BYTE_MAX}, entry, at + 1)
end

-- @returns the text, and where the next part begins
local function text_at(entry, at)
  local length, from = number_at(entry, at)
  return string.sub(entry, from, from + length - 1), from + length
end

local function state_of(entry)
  return entry and STATES[string.sub(entry, 1, 1)]
end

local function is_pending(entry)
  return state_of(entry) == 'pending'
end

-- The lease, the deadline, or the end of the retention.
local function instant_of(entry)
  return (struct.unpack('>d', entry, 2))
end

local function tag_at(entry)
  return state_of(entry) == 'trashed' and 18 or 2
end

-- The record of a stored or trashed original without its tag; nil in other states.
local function body_of(entry)
  local state = state_of(entry)
  if state ~= 'stored' and state ~= 'trashed' then return nil end
  local _, at = text_at(entry, tag_at(entry))
  return string.sub(entry, at)
end

-- The entry of a stored or trashed original with the tag of another such entry; nil in other states.
local function retagged(entry, other)
  local body = body_of(entry)
  if not body then return nil end
  local from = tag_at(other)
  local _, stop = text_at(other, from)
  return string.sub(entry, 1, tag_at(entry) - 1) .. string.sub(other, from, stop - 1) .. body
end

-- The members of the record of a stored or trashed original. The digest is bytes, the rest is a JSON.
local function record_in(entry)
  local record, crc = {}, nil
  local _, at = text_at(entry, tag_at(entry))
  record.at, at = struct.unpack('>d', entry, at)
  record.digest, at = text_at(entry, at)
  crc, at = number_at(entry, at)
  record.size, at = number_at(entry, at)
  record.name, at = text_at(entry, at)
  record.rest = string.sub(entry, at)
  return record
end

-- The name as sortableName in TypeScript returns it.
local function sortable_name(name)
  name = string.gsub(name, '[A-Z]', function(letter) return string.char(string.byte(letter) + 32) end)
  return (string.gsub(name, '\\n', ' '))
end

local function pending(instant)
  return 'p' .. struct.pack('>d', instant)
end

local function going(lease)
  return 'g' .. struct.pack('>d', lease)
end

local function trashed(till, at, body)
  return 't' .. struct.pack('>dd', till, at) .. '\\0' .. body
end

local function stored(body)
  return 's\\0' .. body
end

local function read_entry(in_file)
  local pieces = redis.call('HMGET', in_file, unpack(PIECES))
  return pieces[1] and pieces[1] .. (pieces[2] or '') .. (pieces[3] or '')
end

local function write_entry(in_file, entry)
  local fields = {}
  for i, name in ipairs(PIECES) do
    local from = 1 + (i - 1) * ${PIECE}
    fields[2 * i - 1], fields[2 * i] = name, string.sub(entry, from, i < #PIECES and from + ${PIECE - 1} or -1)
  end
  redis.call('HSET', in_file, unpack(fields))
end

-- Derivatives.

local function use_of(entry)
  return (struct.unpack('>I${USE_BYTES}', entry, 2))
end

local function derivative_body(entry)
  return string.sub(entry, ${2 + USE_BYTES})
end

local function stored_derivative(score, body)
  return 's' .. struct.pack('>I${USE_BYTES}', score) .. body
end

-- Includes those of the parts.
local function bytes_of(entry)
  local _, at = number_at(entry, ${3 + USE_BYTES})
  local size, parts
  size, at = number_at(entry, at)
  if at > #entry then return size end
  _, at = text_at(entry, at)
  parts = number_at(entry, at)
  return size + math.max(0, parts - 1)
end
`
