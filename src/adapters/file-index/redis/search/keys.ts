import { type ObjectKey, storedKey } from '../../../../core/files/object-key.ts'
import type { RedisConnection } from '../../../redis/connection.ts'
import { redisScript } from '../../../redis/script.ts'
import { GROUP, PIECE } from './lua.ts'

// Redis reads so many in about 1 ms.
const AT_ONCE = 500

/** The keys of those of these numbers that are alive, or were before `tidy.ts` has given their file another number. */
export async function readKeys(
  redis: RedisConnection,
  search: string,
  numbers: readonly number[],
): Promise<Array<{ number: number; key: ObjectKey }>> {
  const chunks = Array.from({ length: Math.ceil(numbers.length / AT_ONCE) }, (_, i) =>
    numbers.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
  )
  const found = (await Promise.all(chunks.map((chunk) => keysOf(redis, [search], chunk)))) as string[][]
  return found.flat().flatMap((key, i) => {
    const number = numbers[i]
    if (key === '' || number === undefined) return []
    return [{ number, key: storedKey(key.replace(/^\//, '')) }]
  })
}

/** ARGV: numbers in their order. @returns the key of each, or an empty text. A slash precedes those of moved files */
const keysOf = redisScript(`
local found = {}
while #found < #ARGV do
  local group, fields = math.floor(ARGV[#found + 1] / ${GROUP}), {}
  for i = #found + 1, #ARGV do
    if math.floor(ARGV[i] / ${GROUP}) ~= group then break end
    fields[#fields + 1] = ARGV[i] % ${GROUP}
  end
  local keys = KEYS[1] .. 'keys:' .. group
  for i, piece in ipairs(redis.call('HMGET', keys, unpack(fields))) do
    local key, field = piece or '', fields[i]
    local full = ${PIECE} + (string.sub(key, 1, 1) == '/' and 1 or 0)
    while piece and #piece == full do
      field, full = field + ${GROUP}, ${PIECE}
      piece = redis.call('HGET', keys, field)
      key = key .. (piece or '')
    end
    found[#found + 1] = key
  end
end
return found`)
