import type { FileRef } from '../../../../core/files/file-ref.ts'
import type { ObjectKey } from '../../../../core/files/object-key.ts'
import type { RedisConnection } from '../../../redis/connection.ts'
import { redisScript } from '../../../redis/script.ts'
import type { KeyNames } from '../keys.ts'
import { KEY_FIELD } from './lua.ts'
import { idIn, keyWith, type Place, withoutId } from './places.ts'

// Redis reads so many hashes in about 0.5 ms.
const AT_ONCE = 500

/** What was read of a hash: {@link KEY_FIELD} and something else. */
interface Read {
  rest: string | undefined
}

/**
 * Reads something of the hash of each original. Nearly all originals have a short name, so the long names are read only where the hash
 * with the short name is missing or has another key.
 *
 * @param read reads hashes: {@link fieldsIn} or {@link entireHashes}
 * @returns undefined for an original without a hash
 */
export async function readHashes<T extends Read>(
  { hashesOf }: Pick<KeyNames, 'hashesOf'>,
  refs: readonly FileRef[],
  read: (hashes: readonly string[]) => Promise<T[]>,
): Promise<Array<{ found: T; place: Place } | undefined>> {
  const names = refs.map(hashesOf)
  const first = await read(names.map(([short]) => short))
  const results = refs.map(({ key }, i) => {
    const found = first[i]
    if (found?.rest !== withoutId(key)) return undefined
    const id = idIn(key)
    return { found, place: id === undefined ? { key } : { id } }
  })
  const others = names.flatMap(([short, long], i) => (results[i] || short === long ? [] : [{ i, long }]))
  if (others.length === 0) return results
  const second = await read(others.map(({ long }) => long))
  for (const [n, { i }] of others.entries()) {
    const [found, ref] = [second[n], refs[i]]
    if (ref && found?.rest !== undefined) results[i] = { found, place: { key: ref.key } }
  }
  return results
}

/** Reads {@link KEY_FIELD} and other fields of hashes. */
export function fieldsIn(redis: RedisConnection, ...fields: string[]) {
  const all = [KEY_FIELD, ...fields]
  return async (hashes: readonly string[]): Promise<Array<Read & { values: Array<Buffer | null> }>> => {
    const [only = ''] = hashes
    const found =
      hashes.length === 1
        ? [await redis.send((client) => client.hmgetBuffer(only, ...all))]
        : await fieldsOfMany(redis, hashes, all)
    return found.map(([rest, ...values]) => ({ rest: rest ? String(rest) : undefined, values }))
  }
}

async function fieldsOfMany(redis: RedisConnection, hashes: readonly string[], fields: readonly string[]) {
  const parts = Array.from({ length: Math.ceil(hashes.length / AT_ONCE) }, (_, i) =>
    fieldsOf(redis, hashes.slice(i * AT_ONCE, (i + 1) * AT_ONCE), fields),
  )
  const values = ((await Promise.all(parts)) as Array<Array<Buffer | null>>).flat()
  return hashes.map((_, i) => values.slice(i * fields.length, (i + 1) * fields.length))
}

/** Reads all fields of hashes. */
export function entireHashes(redis: RedisConnection) {
  return async (hashes: readonly string[]) => {
    const [only = ''] = hashes
    const found =
      hashes.length === 1
        ? [await redis.send((client) => client.hgetallBuffer(only))]
        : ((await fieldsAndValues(redis, hashes, [])) as Buffer[][]).map(hashFrom)
    return found.map((hash) => ({ rest: hash[KEY_FIELD]?.toString(), hash }))
  }
}

/** @param flat fields and values in turn */
function hashFrom(flat: readonly Buffer[]): Record<string, Buffer> {
  const hash: Record<string, Buffer> = {}
  for (let i = 0; i + 1 < flat.length; i += 2) hash[String(flat[i])] = flat[i + 1] as Buffer
  return hash
}

/** The keys of the originals of a client at these places. Undefined where there is no original any more. */
export async function keysAt(
  redis: RedisConnection,
  { hashAt }: Pick<KeyNames, 'hashAt'>,
  clientId: string,
  places: readonly Place[],
): Promise<Array<ObjectKey | undefined>> {
  const found = await fieldsIn(redis)(places.map((place) => hashAt(clientId, place)))
  return places.map((place, i) => keyAt(place, found[i]?.rest))
}

/** @param rest {@link KEY_FIELD} of the hash at this place */
export function keyAt(place: Place, rest: string | undefined): ObjectKey | undefined {
  if ('key' in place) return place.key
  return rest === undefined ? undefined : keyWith(place.id, rest)
}

/** KEYS: hashes. ARGV: fields. @returns the values of the first hash, then those of the second one, … */
const fieldsOf = redisScript(
  `
local found, call, n = {}, redis.call, #ARGV
if n == 1 then
  local field = ARGV[1]
  for i, hash in ipairs(KEYS) do found[i] = call('HGET', hash, field) end
  return found
end
for i, hash in ipairs(KEYS) do
  local values, before = call('HMGET', hash, unpack(ARGV)), (i - 1) * n
  for j = 1, n do found[before + j] = values[j] end
end
return found`,
  { replies: 'bytes' },
)

/** One command for all: to send one for each takes most of the time of this process. KEYS: hashes. @returns for each hash its fields and values in turn; nothing for a missing one */
const fieldsAndValues = redisScript(
  `
local found = {}
for i, hash in ipairs(KEYS) do found[i] = redis.call('HGETALL', hash) end
return found`,
  { replies: 'bytes' },
)
