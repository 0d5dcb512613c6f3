import { LRUCache } from 'lru-cache'
import { byBytes } from '../../../../core/text/byte-order.ts'
import type { RedisConnection } from '../../../redis/connection.ts'
import { redisScript } from '../../../redis/script.ts'
import { type Bounds, INSTANT_DIGITS, type Order, SIZE_DIGITS } from '../../positions.ts'
import { IS_UP_TO } from '../folder-lua.ts'
import { ID_BYTES, LABEL_BYTES, TREES, VALUE_BYTES } from './lua.ts'

const DIGEST = /^[0-9a-f]{64} /
const LISTS_REMEMBERED = 1000
// Of each list: about 2 MB.
const PREFIXES_REMEMBERED = 20_000

/** A list by the name of its key, and the list by key of the same state. */
export interface ListKeys {
  list: string
  byKey: string
  by: Order
}

/** Reads positions of lists. */
export type ReadPositions = (
  keys: ListKeys,
  request: { direction?: 'up' | 'down' | undefined; limit: number },
  bounds: Bounds & { upTo?: string | undefined },
) => Promise<string[]>

/** The positions in a list between two bounds. Those by digest have the first 16 digits, and zeros. */
export function positionReader(redis: RedisConnection): ReadPositions {
  const known = new LRUCache<string, Prefixes>({ max: LISTS_REMEMBERED })

  /** Adds the prefixes of these labels. @returns false when labels have changed their meaning since the list was read */
  async function learn(byKey: string, prefixes: Prefixes, labels: readonly number[]): Promise<boolean> {
    const [version, ...found] = (await prefixesOf(redis, [byKey], labels)) as string[]
    if (version !== prefixes.version) return false
    for (const [i, label] of labels.entries()) prefixes.byLabel.set(label, found[i] ?? '')
    return true
  }

  return async function read(keys, request, bounds) {
    const { list, byKey, by } = keys
    const { direction = 'up', limit } = request
    const args = argumentsOf(request, bounds, by)
    const reply = (await readPositions(redis, [list, byKey], args)) as [Buffer | null, Buffer[][], Buffer[]]
    const [version, parts, plain] = [
      String(reply[0]),
      reply[1].flat(),
      reply[2].map((bytes) => plainPosition(String(bytes), by)),
    ]
    const remembered = known.get(byKey)
    const isCurrent = remembered?.version === version && remembered.byLabel.size < PREFIXES_REMEMBERED
    const prefixes = isCurrent ? remembered : { version, byLabel: new Map() }
    known.set(byKey, prefixes)
    const members = parts.map((bytes) => memberOf(bytes, by))
    const unknown = new Set(members.map(({ label }) => label).filter((label) => !prefixes.byLabel.has(label)))
    if (unknown.size > 0 && !(await learn(byKey, prefixes, [...unknown]))) return read(keys, request, bounds)
    const positions = members.flatMap((member) => positionAt(member, by, prefixes.byLabel) ?? [])
    if (plain.length === 0) return positions
    const sign = direction === 'up' ? 1 : -1
    const merged = [...new Set([...positions, ...plain])].sort((a, b) => sign * byBytes(a, b))
    return merged.slice(0, limit)
  }
}

/** The prefixes of a client's labels, as they are while the version is the same. An empty text for a label without a prefix. */
interface Prefixes {
  version: string
  byLabel: Map<number, string>
}

function argumentsOf(
  { direction = 'up', limit }: Parameters<ReadPositions>[1],
  { above, below, upTo }: Parameters<ReadPositions>[2],
  by: Order,
): Array<string | number | Buffer> {
  const most = below ?? upTo
  return [
    ...[direction, limit],
    ...[above === undefined ? '' : '(', ...boundIn(above, by)],
    ...[most === undefined ? '' : below === undefined ? '[' : '(', ...boundIn(most, by)],
  ]
}

/** A position in the list itself, as one in the tree: version 1.0 may have listed an original of the tree. */
function plainPosition(position: string, by: Order): string {
  const end = 2 * VALUE_BYTES.sha256
  return by === 'sha256' ? position.replace(DIGEST, `${position.slice(0, end).padEnd(64, '0')} `) : position
}

/** A bound as the script takes it: the bytes of its value, the rest, and all of it as text. */
function boundIn(position: string | undefined, by: Order): [value: Buffer, key: string, text: string] {
  if (position === undefined) return [Buffer.of(), '', '']
  if (by === 'key') return [Buffer.of(), position, position]
  const end = position.indexOf(by === 'name' ? '\n' : ' ')
  const value = end === -1 ? position : position.slice(0, end)
  const key = end === -1 ? '' : position.slice(end + 1)
  if (by === 'name') return [Buffer.from(`${value}\n`), key, position]
  return by === 'sha256'
    ? digestBound(value, key, position)
    : numberBound(Number(value), by, { key, position })
}

// Behind all keys.
const LAST = '\u{10ffff}'

/** Trees have numbers up to a maximum. */
function numberBound(
  value: number,
  by: 'storedAt' | 'size',
  { key, position }: { key: string; position: string },
): ReturnType<typeof boundIn> {
  const bytes = Buffer.alloc(VALUE_BYTES[by])
  const most = 2 ** (8 * bytes.length) - 1
  if (value <= most) bytes.writeUIntBE(Math.max(0, value), 0, bytes.length)
  else bytes.fill(0xff)
  return [bytes, value > most ? LAST : value < 0 ? '' : key, position]
}

/** Trees have digests in lower case. A position of another one is between two of these. */
function digestBound(value: string, key: string, position: string): ReturnType<typeof boundIn> {
  const digits = 2 * VALUE_BYTES.sha256
  const [same = ''] = /^[0-9a-f]*/.exec(value.slice(0, digits)) ?? []
  if (same.length === digits) return [Buffer.from(same, 'hex'), key, position]
  const next = value.charAt(same.length)
  if (next > 'f') return [Buffer.from(same.padEnd(digits, 'f'), 'hex'), LAST, position]
  return [Buffer.from(`${same}${next > '9' ? 'a' : ''}`.padEnd(digits, '0'), 'hex'), '', position]
}

/** A member of a tree: its value, label, id and extension. */
interface Member {
  bytes: Buffer
  /** How many bytes the value has. */
  end: number
  label: number
}

function memberOf(bytes: Buffer, by: Order): Member {
  const end = by === 'name' ? bytes.indexOf('\n') + 1 : VALUE_BYTES[by]
  return { bytes, end, label: bytes.readUIntBE(end, LABEL_BYTES) }
}

/** The position of a member. Undefined when its prefix is unknown: its key is lost. */
function positionAt(
  { bytes: member, end, label }: Member,
  by: Order,
  prefixes: Prefixes['byLabel'],
): string | undefined {
  const prefix = prefixes.get(label)
  if (!prefix) return undefined
  const id = end + LABEL_BYTES
  const extension = member.subarray(id + ID_BYTES).toString() || usualExtension(prefix)
  const key = `${prefix}${unpackedId(member.subarray(id, id + ID_BYTES))}.${extension}`
  switch (by) {
    case 'key':
      return key
    case 'name':
      return `${member.subarray(0, end)}${key}`
    case 'sha256':
      return `${member.subarray(0, end).toString('hex').padEnd(64, '0')} ${key}`
    case 'storedAt':
      return `${String(member.readUIntBE(0, end)).padStart(INSTANT_DIGITS, '0')} ${key}`
    case 'size':
      return `${String(member.readUIntBE(0, end)).padStart(SIZE_DIGITS, '0')} ${key}`
  }
}

/** As `usual_extension` of `lua.ts`. */
function usualExtension(prefix: string): string {
  const format = prefix.slice(prefix.lastIndexOf('/', prefix.length - 2) + 1, -1)
  return format === 'jpeg' ? 'jpg' : format
}

function unpackedId(bytes: Buffer): string {
  const id = Buffer.alloc(22)
  for (let i = 0; i < 22; i += 1) {
    // The last two digits are in twelve bits of their own.
    const bit = i < 20 ? 6 * i : 6 * i + 4
    const two = ((bytes[bit >> 3] ?? 0) << 8) | (bytes[(bit >> 3) + 1] ?? 0)
    const digit = (two >> (10 - (bit & 7))) & 63
    id[i] = digit + (digit < 9 ? 49 : digit < 35 ? 56 : 62)
  }
  return id.toString('latin1')
}

/**
 * KEYS: list, list by key. ARGV: direction, maximum, and for both bounds: `(`, `[` or an empty text for none, value, key, text.
 * @returns the version of the labels, members of each leaf, positions in the list itself
 */
const readPositions = redisScript(
  `${IS_UP_TO}${TREES}
local list, prefixes = KEYS[1], KEYS[2] .. ':prefixes'
local is_down, most = ARGV[1] == 'down', tonumber(ARGV[2])
local min, max, min_text, max_text = '-', '+', '-', '+'
if ARGV[3] ~= '' then
  local place, is_exact = place_from(prefixes, ARGV[5])
  min, min_text = (is_exact and '(' or '[') .. ARGV[4] .. place, '(' .. ARGV[6]
end
if ARGV[7] ~= '' then
  local place, is_exact = place_from(prefixes, ARGV[9])
  max, max_text = (is_exact and ARGV[7] or '(') .. ARGV[8] .. place, ARGV[7] .. ARGV[10]
end
local plain = is_down and redis.call('ZREVRANGEBYLEX', list, max_text, min_text, 'LIMIT', 0, most)
  or redis.call('ZRANGEBYLEX', list, min_text, max_text, 'LIMIT', 0, most)
return { redis.call('ZSCORE', prefixes, ''), read_tree(list, min, max, most, is_down), plain }`,
  { replies: 'bytes' },
)

/** KEYS: list by key. ARGV: labels. @returns the version of the labels, the prefix of each, or an empty text */
const prefixesOf = redisScript(`
local prefixes = KEYS[1] .. ':prefixes'
local found = { redis.call('ZSCORE', prefixes, '') or 'null' }
for i, label in ipairs(ARGV) do
  found[i + 1] = redis.call('ZRANGEBYSCORE', prefixes, label, label, 'LIMIT', 0, 1)[1] or ''
end
return found`)
