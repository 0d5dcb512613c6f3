import type { RedisConnection } from '../../../redis/connection.ts'
import { redisScript } from '../../../redis/script.ts'
import { type Place, placeIn } from '../lists/places.ts'
import { GROUP, PIECE } from './lua.ts'

// Redis reads so many in about 1 ms.
const AT_ONCE = 500

/** A living number with the place of its file. */
export interface NumberedPlace {
  number: number
  place: Place
}

/** The places of those of these numbers that are alive. @param numbers in their order */
export async function readPlaces(
  redis: RedisConnection,
  search: string,
  numbers: readonly number[],
): Promise<NumberedPlace[]> {
  const chunks = Array.from({ length: Math.ceil(numbers.length / AT_ONCE) }, (_, i) =>
    numbers.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
  )
  const found = (await Promise.all(chunks.map((chunk) => placesOf(redis, [search], chunk)))) as Buffer[][]
  return found.flat().flatMap((bytes, i) => {
    const number = numbers[i]
    return bytes.length === 0 || number === undefined ? [] : [{ number, place: placeIn(bytes) }]
  })
}

/**
 * The places of the living numbers from this one on, in one step.
 * @returns undefined when more than 500 numbers were drawn
 */
export async function readPlacesSince(
  redis: RedisConnection,
  search: string,
  number: number,
): Promise<Place[] | undefined> {
  const found = (await placesSince(redis, [search], [number, AT_ONCE])) as Buffer[] | null
  return found?.flatMap((bytes) => (bytes.length === 0 ? [] : [placeIn(bytes)]))
}

const PLACES_OF = `
local function places_of(numbers)
  local found = {}
  while #found < #numbers do
    local group, fields = math.floor(numbers[#found + 1] / ${GROUP}), {}
    for i = #found + 1, #numbers do
      if math.floor(numbers[i] / ${GROUP}) ~= group then break end
      fields[#fields + 1] = numbers[i] % ${GROUP}
    end
    local places = KEYS[1] .. 'places:' .. group
    for i, piece in ipairs(redis.call('HMGET', places, unpack(fields))) do
      local place, field = piece or '', fields[i]
      while piece and #piece == ${PIECE} do
        field = field + ${GROUP}
        piece = redis.call('HGET', places, field)
        place = place .. (piece or '')
      end
      found[#found + 1] = place
    end
  end
  return found
end
`

/** ARGV: numbers in their order. @returns the place of each, or an empty text */
const placesOf = redisScript(
  `${PLACES_OF}
return places_of(ARGV)`,
  { replies: 'bytes' },
)

/** ARGV: number, maximum. A client without any files begins with the number 0 again. @returns as `placesOf`, or nil for more numbers */
const placesSince = redisScript(
  `${PLACES_OF}
local from, next = tonumber(ARGV[1]), tonumber(redis.call('HGET', KEYS[1], 'next') or 0)
if next < from then from = 0 end
if next - from > tonumber(ARGV[2]) then return false end
local numbers = {}
for number = from, next - 1 do numbers[#numbers + 1] = number end
return places_of(numbers)`,
  { replies: 'bytes' },
)
