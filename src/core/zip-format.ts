/**
 * The records of a ZIP archive around the bytes of its entries, for one that is written from its start to its end
 * without a look back.
 *
 * @see https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT sections 4.3 to 4.5
 */

/** What is known of an entry before its bytes. */
export interface ZipHeader {
  /** In UTF-8, with "/" between its segments. */
  name: Buffer
  modifiedAt: Date
  deflated: boolean
  /** Whether its sizes take 8 bytes each. */
  large: boolean
  /** Known before the bytes; without it they are followed by a {@link dataDescriptor}. */
  known?: ZipSums
}

/** What is known of an entry after its bytes. */
export interface ZipSums {
  /** CRC-32 of the file. */
  checksum: number
  /** Bytes in the archive. */
  packed: number
  /** Bytes of the file. */
  size: number
}

/** An entry that has been written. */
export interface ZipEntryRecord extends ZipHeader, ZipSums {
  /** Where its header begins. */
  offset: number
}

// What 4 bytes, and what 2, cannot say: the value is in the larger record.
const MAX_32 = 0xffffffff
const MAX_16 = 0xffff
// Deflate of what does not shrink adds 5 bytes for every 16 KiB.
const LARGE_FROM = MAX_32 - 2 * 1024 * 1024
const DESCRIPTOR_FOLLOWS = 1 << 3
const NAME_IS_UTF8 = 1 << 11
const VERSION_DEFLATE = 20
const VERSION_ZIP64 = 45
// A system where files have modes, and a plain file of mode 0644.
const MADE_BY = (3 << 8) | VERSION_ZIP64
const ATTRIBUTES = 0o100644 * 0x10000

/** Whether an entry of a file of `size` bytes has to be {@link ZipHeader.large}. */
export function isLarge(size: number): boolean {
  return size >= LARGE_FROM
}

/** Stands before the bytes of an entry. */
export function localHeader(entry: ZipHeader): Buffer {
  const { known, large, name } = entry
  const { packed = 0, size = 0 } = known ?? {}
  const extra = Buffer.concat([...(large ? [zip64Extra([size, packed])] : []), timeExtra(entry.modifiedAt)])
  const fixed = record(30, [
    [4, 0x04034b50],
    ...common(entry),
    [4, known?.checksum ?? 0],
    [4, large ? MAX_32 : packed],
    [4, large ? MAX_32 : size],
    [2, name.length],
    [2, extra.length],
  ])
  return Buffer.concat([fixed, name, extra])
}

/** Stands behind the bytes of an entry whose sums were not known before. */
export function dataDescriptor({ large }: ZipHeader, { checksum, packed, size }: ZipSums): Buffer {
  const width = large ? 8 : 4
  return record(8 + 2 * width, [
    [4, 0x08074b50],
    [4, checksum],
    [width, packed],
    [width, size],
  ])
}

/** The end of an archive: an entry's name, place and size for each, and where these begin. */
export function centralDirectory(entries: readonly ZipEntryRecord[], offset: number): Buffer {
  const listed = Buffer.concat(entries.map(centralHeader))
  return Buffer.concat([listed, endRecords({ count: entries.length, length: listed.length, offset })])
}

function centralHeader(entry: ZipEntryRecord): Buffer {
  const { name, checksum, packed, size, offset } = entry
  // All three or none, as the local header has them: not every reader looks for one alone.
  const large = entry.large || [packed, size, offset].some((value) => value >= MAX_32)
  const extra = Buffer.concat([
    ...(large ? [zip64Extra([size, packed, offset])] : []),
    timeExtra(entry.modifiedAt),
  ])
  const fixed = record(46, [
    [4, 0x02014b50],
    [2, MADE_BY],
    ...common({ ...entry, large }),
    [4, checksum],
    [4, large ? MAX_32 : packed],
    [4, large ? MAX_32 : size],
    [2, name.length],
    [2, extra.length],
    // No comment, on disk 0, of no kind.
    [6, 0],
    [4, ATTRIBUTES],
    [4, large ? MAX_32 : offset],
  ])
  return Buffer.concat([fixed, name, extra])
}

function endRecords({ count, length, offset }: { count: number; length: number; offset: number }): Buffer {
  const large = count >= MAX_16 || length >= MAX_32 || offset >= MAX_32
  const end = record(22, [
    [4, 0x06054b50],
    [4, 0],
    [2, large ? MAX_16 : count],
    [2, large ? MAX_16 : count],
    [4, large ? MAX_32 : length],
    [4, large ? MAX_32 : offset],
    [2, 0],
  ])
  if (!large) return end
  const zip64End = record(56, [
    [4, 0x06064b50],
    // Of what follows.
    [8, 44],
    [2, MADE_BY],
    [2, VERSION_ZIP64],
    [8, 0],
    [8, count],
    [8, count],
    [8, length],
    [8, offset],
  ])
  const locator = record(20, [
    [4, 0x07064b50],
    [4, 0],
    [8, offset + length],
    [4, 1],
  ])
  return Buffer.concat([zip64End, locator, end])
}

type Field = readonly [bytes: number, value: number]

/** The fields that the two headers of an entry share. */
function common({ deflated, large, known, modifiedAt }: ZipHeader): Field[] {
  const { date, time } = dosTime(modifiedAt)
  return [
    [2, large ? VERSION_ZIP64 : VERSION_DEFLATE],
    [2, NAME_IS_UTF8 | (known ? 0 : DESCRIPTOR_FOLLOWS)],
    [2, deflated ? 8 : 0],
    [2, time],
    [2, date],
  ]
}

function zip64Extra(values: readonly number[]): Buffer {
  return record(4 + 8 * values.length, [
    [2, 1],
    [2, 8 * values.length],
    ...values.map((value) => [8, value] as const),
  ])
}

/** The time in seconds since 1970. The other field has no time zone, and is taken for a local one by most. */
function timeExtra(at: Date): Buffer {
  return record(9, [
    [2, 0x5455],
    [2, 5],
    // The time of modification alone.
    [1, 1],
    [4, Math.min(Math.max(Math.floor(at.getTime() / 1000), 0), 0x7fffffff)],
  ])
}

/** UTC, by two seconds, from 1980 to 2107. */
function dosTime(at: Date): { date: number; time: number } {
  const years = Math.min(Math.max(at.getUTCFullYear() - 1980, 0), 127)
  return {
    date: (years << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(),
    time: (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1),
  }
}

/** Little endian. */
function record(length: number, fields: readonly Field[]): Buffer {
  const buffer = Buffer.alloc(length)
  let at = 0
  for (const [bytes, value] of fields) {
    if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value), at)
    else buffer.writeUIntLE(value, at, bytes)
    at += bytes
  }
  return buffer
}
