import { createHash } from 'node:crypto'
import { type ObjectKey, storedKey } from '../../../../core/files/object-key.ts'
import type { OriginalRecord } from '../../../../core/ports/file-index.ts'
import { type Order, sortableName } from '../../positions.ts'
import { digestBytes } from '../entries/packed.ts'
import { ID_BYTES, VALUE_BYTES } from './lua.ts'

// Computes the names, places and members of `lua.ts`.

const ID_CHARACTERS = 22
const NAME_WITH_ID = /^[1-9A-Za-z]{22}\.[a-z0-9]+$/
const ID_ALONE = /^[1-9A-Za-z]{22}$/
const INSTANT_MAX = 2 ** 48 - 1
const HEXADECIMAL = /^(?:[0-9a-f]{2})+$/
const LINE_BREAKS = /\n+$/

/** An original of a client: the id where its hash has a short name, the key where it has a long one. */
export type Place = { id: string } | { key: ObjectKey }

/** The id in a key. Undefined for a key without one. */
export function idIn(key: string): string | undefined {
  const start = key.lastIndexOf('/') + 1
  const name = key.slice(start)
  return start > 0 && NAME_WITH_ID.test(name) ? name.slice(0, ID_CHARACTERS) : undefined
}

export function withoutId(key: string): string {
  if (idIn(key) === undefined) return key
  const start = key.lastIndexOf('/') + 1
  return key.slice(0, start) + key.slice(start + ID_CHARACTERS)
}

/** The key in the hash with a short name. @param rest of {@link withoutId} */
export function keyWith(id: string, rest: string): ObjectKey {
  const end = rest.lastIndexOf('/') + 1
  return storedKey(rest.slice(0, end) + id + rest.slice(end))
}

/** The place of a hash, by the end of its name. */
export function placeNamed(end: string): Place {
  return ID_ALONE.test(end) ? { id: end } : { key: storedKey(end) }
}

export function placeIn(bytes: Buffer): Place {
  return bytes.length === ID_BYTES
    ? { id: unpacked(bytes) }
    : { key: storedKey(String(bytes).replace(LINE_BREAKS, '')) }
}

export function placeBytes(place: Place): Buffer {
  return 'id' in place ? packed(place.id) : Buffer.from(place.key.padEnd(ID_BYTES + 1, '\n'))
}

/** The place in a member of a list. */
export function placeAt(member: Buffer, by: Order): Place {
  if (by === 'key') return { key: storedKey(String(member)) }
  return placeIn(member.subarray(by === 'name' ? member.indexOf('\n') + 1 : VALUE_BYTES[by]))
}

/** The member of an original in a list. */
export function memberOf(record: OriginalRecord, by: Order, place: Place): Buffer {
  const { key, storedAt, sha256, originalName, size } = record
  if (by === 'key') return Buffer.from(key)
  const value = Buffer.alloc(by === 'name' ? 0 : VALUE_BYTES[by])
  if (by === 'storedAt') value.writeUIntBE(Math.max(0, Math.min(INSTANT_MAX, Math.floor(storedAt))), 0, 6)
  // Seven bytes are more than a number of writeUIntBE has.
  if (by === 'size') value.writeUIntBE(Math.floor(size / 256), 0, 6)
  if (by === 'size') value[6] = size % 256
  const before = by === 'name' ? Buffer.from(`${sortableName(originalName)}\n`) : value
  if (by === 'sha256') digestValue(sha256, key).copy(value)
  return Buffer.concat([before, placeBytes(place)])
}

/** The value of the originals in the list by digest that have this digest, and these first parts of the key up to its last slash. */
export function digestValue(sha256: string, key: string): Buffer {
  const digest = Buffer.concat([digestBytes(sha256), Buffer.alloc(6)]).subarray(0, 6)
  const folder = createHash('sha1')
    .update(key.slice(0, key.lastIndexOf('/') + 1))
    .digest()
  return Buffer.concat([digest, folder.subarray(0, 2)])
}

/** The position of a member: a text that sorts as the member does. */
export function positionOf(member: Buffer, by: Order): string {
  return by === 'key' ? String(member) : member.toString('hex')
}

/** Whether a text has the form of {@link positionOf}. */
export function isPosition(position: string, by: Order): boolean {
  return by === 'key' || HEXADECIMAL.test(position)
}

/** The member at a position. */
export function memberAt(position: string, by: Order): Buffer {
  return Buffer.from(position, by === 'key' ? 'utf8' : 'hex')
}

function packed(id: string): Buffer {
  const digits = [...Buffer.from(id)].map((byte) => byte - (byte < 58 ? 49 : byte < 91 ? 56 : 62))
  const bytes = Buffer.alloc(ID_BYTES)
  const number = (from: number, to: number) =>
    digits.slice(from, to).reduce((sum, digit) => sum * 64 + digit, 0)
  for (let group = 0; group < 5; group += 1) bytes.writeUIntBE(number(4 * group, 4 * group + 4), 3 * group, 3)
  bytes.writeUInt16BE(number(20, 22), 15)
  return bytes
}

function unpacked(bytes: Buffer): string {
  const id = Buffer.alloc(ID_CHARACTERS)
  for (let i = 0; i < ID_CHARACTERS; i += 1) {
    // The last two digits are in two bytes of their own.
    const bit = i < 20 ? 6 * i : 6 * i + 4
    const two = ((bytes[bit >> 3] ?? 0) << 8) | (bytes[(bit >> 3) + 1] ?? 0)
    const digit = (two >> (10 - (bit & 7))) & 63
    id[i] = digit + (digit < 9 ? 49 : digit < 35 ? 56 : 62)
  }
  return id.toString('latin1')
}
