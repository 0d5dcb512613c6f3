import { type ObjectKey, storedKey } from '../../../../core/files/object-key.ts'
import type { RedisConnection } from '../../../redis/connection.ts'
import { redisScript } from '../../../redis/script.ts'
import { GROUP, PIECE } from './lua.ts'

// Redis reads so many in about 1 ms.
const AT_ONCE = 500

/** A living number with the key of its file. */
export interface NumberedKey {
  number: number
  key: ObjectKey
}

/** The keys of those of these numbers that are alive. @param numbers in their order */
export async function readKeys(
  redis: RedisConnection,
  search: string,
  numbers: readonly number[],
): Promise<NumberedKey[]> {
  const chunks = Array.from({ length: Math.ceil(numbers.length / AT_ONCE) }, (_, i) =>
    numbers.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
  )
  const found = (await Promise.all(chunks.map((chunk) => keysOf(redis, [search], chunk)))) as string[][]
  return found.flat().flatMap((key, i) => {
    const number = numbers[i]
    return key === '' || number === undefined ? [] : [{ number, key: storedKey(key) }]
  })
}

/**
 * The keys of the living numbers from this one on, in one step.
 * @returns undefined when more than 500 numbers were drawn
 */
export async function readKeysSince(
  redis: RedisConnection,
  search: string,
  number: number,
): Promise<ObjectKey[] | undefined> {
  const found = (await keysSince(redis, [search], [number, AT_ONCE])) as string[] | null
  return found?.flatMap((key) => (key === '' ? [] : [storedKey(key)]))
}

const KEYS_OF = `
local function keys_of(numbers)
  local found = {}
  while #found < #numbers do
    local group, fields = math.floor(numbers[#found + 1] / ${GROUP}), {}
    for i = #found + 1, #numbers do
      if math.floor(numbers[i] / ${GROUP}) ~= group then break end
      fields[#fields + 1] = numbers[i] % ${GROUP}
    end
    local keys = KEYS[1] .. 'keys:' .. group
    for i, piece in ipairs(redis.call('HMGET', keys, unpack(fields))) do
      local key, field = piece or '', fields[i]
      while piece and #piece == ${PIECE} do
        field = field + ${GROUP}
        piece = redis.call('HGET', keys, field)
        key = key .. (piece or '')
      end
      found[#found + 1] = key
    end
  end
  return found
end
`

/** ARGV: numbers in their order. @returns the key of each, or an empty text */
const keysOf = redisScript(`${KEYS_OF}
return keys_of(ARGV)`)

/** ARGV: number, maximum. A client without any files begins with the number 0 again. @returns as `keysOf`, or nil for more numbers */
const keysSince = redisScript(`${KEYS_OF}
local from, next = tonumber(ARGV[1]), tonumber(redis.call('HGET', KEYS[1], 'next') or 0)
if next < from then from = 0 end
if next - from > tonumber(ARGV[2]) then return false end
local numbers = {}
for number = from, next - 1 do numbers[#numbers + 1] = number end
return keys_of(numbers)`)
