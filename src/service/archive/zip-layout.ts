import { crc32 } from 'node:zlib'

// Of our own: archiver and other packages write an archive from its beginning. A byte range needs the place of each byte before any file is read.

/** A file of an archive, whose bytes are stored without compression. */
export interface LaidOutEntry {
  /** With "/" between its segments. */
  name: string
  /** Bytes. */
  size: number
  crc32: number
  modifiedAt: Date
}

/** A part of an archive: bytes that the format needs, or those of the entry with this index. `start`: its place in the archive. */
export type Segment = { start: number; size: number } & ({ bytes: Buffer } | { entry: number })

/** Where all bytes of an archive are. */
export interface ZipLayout {
  /** Bytes of the whole archive. */
  size: number
  /** Without gaps, in order. */
  segments: readonly Segment[]
}

// Values from these on are in Zip64 fields.
const MAX_32 = 0xffffffff
const MAX_16 = 0xffff
const UTF8_NAMES = 0x0800
// "Made by" Unix, so that unpacked files can be read by others.
const UNIX = 3 << 8
const MODE = (0o100644 << 16) >>> 0

/**
 * Lays out an archive before its files are read: nothing is compressed, and sizes and checksums are known. Equal entries have
 * equal layouts.
 *
 * @param list the file at the end, whose bytes are known
 * @see APPNOTE.TXT sections 4.3 and 4.5.3
 */
export function layOut(
  entries: readonly LaidOutEntry[],
  { bytes: list, ...described }: Pick<LaidOutEntry, 'name' | 'modifiedAt'> & { bytes: Buffer },
): ZipLayout {
  const segments: Segment[] = []
  let at = 0
  const add = (size: number, content: { bytes: Buffer } | { entry: number }) => {
    if (size > 0) segments.push({ start: at, size, ...content })
    at += size
  }
  const directory: Buffer[] = []
  for (const [i, entry] of entries.entries()) {
    directory.push(directoryHeader(entry, at))
    const header = localHeader(entry)
    add(header.length, { bytes: header })
    add(entry.size, { entry: i })
  }
  const last = { ...described, size: list.length, crc32: crc32(list) }
  directory.push(directoryHeader(last, at))
  const lastFile = Buffer.concat([localHeader(last), list])
  add(lastFile.length, { bytes: lastFile })
  const start = at
  const headers = Buffer.concat(directory)
  const bytes = Buffer.concat([headers, end({ count: directory.length, size: headers.length, start })])
  add(bytes.length, { bytes })
  return { size: at, segments }
}

function localHeader(entry: LaidOutEntry): Buffer {
  const isLarge = entry.size >= MAX_32
  // In a local header, both sizes must be in the Zip64 field.
  const extra = zip64Field(isLarge ? [entry.size, entry.size] : [])
  const size = isLarge ? MAX_32 : entry.size
  return Buffer.concat([u32(0x04034b50), common(entry, { size, extra }), nameOf(entry), extra])
}

function directoryHeader(entry: LaidOutEntry, offset: number): Buffer {
  const isLarge = entry.size >= MAX_32
  const isFar = offset >= MAX_32
  const extra = zip64Field([...(isLarge ? [entry.size, entry.size] : []), ...(isFar ? [offset] : [])])
  return Buffer.concat([
    u32(0x02014b50),
    u16(UNIX | versionFor(extra)),
    common(entry, { size: isLarge ? MAX_32 : entry.size, extra }),
    // No comment, first disk, no internal attributes.
    Buffer.alloc(6),
    u32(MODE),
    u32(isFar ? MAX_32 : offset),
    nameOf(entry),
    extra,
  ])
}

/** The fields that both headers of an entry have. */
function common(entry: LaidOutEntry, { size, extra }: { size: number; extra: Buffer }): Buffer {
  const { time, date } = dosTime(entry.modifiedAt)
  return Buffer.concat([
    ...[versionFor(extra), UTF8_NAMES, 0, time, date].map(u16),
    ...[entry.crc32, size, size].map(u32),
    ...[nameOf(entry).length, extra.length].map(u16),
  ])
}

function end({ count, size, start }: { count: number; size: number; start: number }): Buffer {
  const isLarge = count >= MAX_16 || size >= MAX_32 || start >= MAX_32
  const record = [
    u32(0x06064b50),
    u64(44),
    ...[UNIX | 45, 45].map(u16),
    ...[0, 0].map(u32),
    ...[count, count, size, start].map(u64),
  ]
  const locator = [u32(0x07064b50), u32(0), u64(start + size), u32(1)]
  return Buffer.concat([
    ...(isLarge ? [...record, ...locator] : []),
    u32(0x06054b50),
    ...[0, 0, Math.min(count, MAX_16), Math.min(count, MAX_16)].map(u16),
    ...[Math.min(size, MAX_32), Math.min(start, MAX_32)].map(u32),
    u16(0),
  ])
}

function zip64Field(values: readonly number[]): Buffer {
  if (values.length === 0) return Buffer.alloc(0)
  return Buffer.concat([u16(0x0001), u16(8 * values.length), ...values.map(u64)])
}

function versionFor(extra: Buffer): number {
  return extra.length > 0 ? 45 : 20
}

function nameOf({ name }: LaidOutEntry): Buffer {
  return Buffer.from(name)
}

/** In UTC, since the format has no time zone. It has the years from 1980 to 2107, and steps of 2 s. */
function dosTime(at: Date): { time: number; date: number } {
  const year = at.getUTCFullYear() - 1980
  if (!(year >= 0)) return { time: 0, date: (1 << 5) | 1 }
  return {
    time: (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1),
    date: (Math.min(year, 127) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(),
  }
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
