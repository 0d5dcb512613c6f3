import type { FileHandle } from 'node:fs/promises'

/** A compound file (MS-CFB), the container of Office's binary formats and of encrypted documents: a file system in a file. */
export interface CompoundFile {
  /** The names of all streams and folders. */
  names: ReadonlySet<string>
  /** The first bytes of a stream, at most `count`, and fewer of a broken file; undefined when it has no such stream. */
  start(name: string, count: number): Promise<Buffer | undefined>
}

interface Entry {
  name: string
  first: number
  size: number
}

const HEADER_BYTES = 512
const MAGIC = 0xe0_11_cf_d0
const ENTRY_BYTES = 128
const MINI_BYTES = 64
// Shorter streams are stored in pieces of 64 bytes, within the stream of the root.
const MINI_BELOW = 4096
// Sectors with these numbers and higher ones have a special meaning: the end of a chain, no sector.
const LAST_SECTOR = 0xff_ff_ff_fa
const HEADER_FAT_SECTORS = 109
// A document with macros and images has some hundred entries in its directory, four in each sector.
const MAX_SECTORS = 2000
// For all streams together. A broken file may have chains without an end.
const MAX_READS = 1000

/**
 * Reads the directory of a compound file. Reads only what it needs, for any bytes.
 *
 * @returns undefined for another file
 * @throws Error for a broken file that needs too many reads, as the methods of the result do
 * @see https://learn.microsoft.com/openspecs/windows_protocols/ms-cfb
 */
export async function openCompoundFile(file: Pick<FileHandle, 'read'>): Promise<CompoundFile | undefined> {
  const header = await bytesAt(file, 0, HEADER_BYTES)
  if (header.length < HEADER_BYTES || header.readUInt32LE(0) !== MAGIC) return undefined
  const sectorBytes = header.readUInt16LE(30) === 12 ? 4096 : 512
  let reads = 0
  const sector = (number: number) => {
    reads += 1
    if (reads > MAX_READS) throw new Error('the compound file has too long chains of sectors')
    return bytesAt(file, (number + 1) * sectorBytes, sectorBytes)
  }
  const perSector = sectorBytes / 4

  /** The sector of the allocation table that has the successor of a sector. */
  async function tableSector(number: number): Promise<number | undefined> {
    const index = Math.floor(number / perSector)
    if (index < HEADER_FAT_SECTORS) return header.readUInt32LE(76 + 4 * index)
    // The list of the sectors of the table continues in sectors of its own. The last number of each is the next one.
    let at = header.readUInt32LE(68)
    let left = index - HEADER_FAT_SECTORS
    for (let i = 0; i < MAX_SECTORS && at < LAST_SECTOR; i += 1) {
      const list = await sector(at)
      if (list.length < sectorBytes) return undefined
      if (left < perSector - 1) return list.readUInt32LE(4 * left)
      left -= perSector - 1
      at = list.readUInt32LE(sectorBytes - 4)
    }
    return undefined
  }

  // Most sectors of a chain are listed in the same sector of the table.
  let latest: { of: number; table: Promise<Buffer> } | undefined

  async function successor(number: number): Promise<number> {
    const of = await tableSector(number)
    if (of === undefined || of >= LAST_SECTOR) return LAST_SECTOR
    if (latest?.of !== of) latest = { of, table: sector(of) }
    const table = await latest.table
    return table?.length === sectorBytes ? table.readUInt32LE(4 * (number % perSector)) : LAST_SECTOR
  }

  /** The bytes of a chain of sectors, from the sector at this place of the chain. */
  async function chain(first: number, { skip = 0, count }: { skip?: number; count: number }) {
    const parts: Buffer[] = []
    let [at, length] = [first, 0]
    for (let i = 0; i < MAX_SECTORS && at < LAST_SECTOR && length < count; i += 1) {
      if (i >= skip) {
        const part = await sector(at)
        parts.push(part)
        length += part.length
      }
      at = await successor(at)
    }
    return Buffer.concat(parts)
  }

  async function startOf({ first, size }: Entry, count: number): Promise<Buffer> {
    const wanted = Math.min(size, count)
    if (size >= MINI_BELOW || !root) return (await chain(first, { count: wanted })).subarray(0, wanted)
    const parts: Buffer[] = []
    let [at, length] = [first, 0]
    for (let i = 0; i < MINI_BELOW / MINI_BYTES && at < LAST_SECTOR && length < wanted; i += 1) {
      const place = at * MINI_BYTES
      const skip = Math.floor(place / sectorBytes)
      const holder = await chain(root.first, { skip, count: 1 })
      const part = holder.subarray(place % sectorBytes, (place % sectorBytes) + MINI_BYTES)
      parts.push(part)
      length += part.length
      at = await miniSuccessor(at)
    }
    return Buffer.concat(parts).subarray(0, wanted)
  }

  async function miniSuccessor(number: number): Promise<number> {
    const skip = Math.floor(number / perSector)
    const table = await chain(header.readUInt32LE(60), { skip, count: 1 })
    const at = 4 * (number % perSector)
    return table.length >= at + 4 ? table.readUInt32LE(at) : LAST_SECTOR
  }

  const directory = await chain(header.readUInt32LE(48), { count: MAX_SECTORS * ENTRY_BYTES })
  const entries = entriesIn(directory)
  const root = entries.get(ROOT)
  return {
    names: new Set(entries.keys()),
    async start(name, count) {
      const entry = entries.get(name)
      return entry && startOf(entry, count)
    },
  }
}

const ROOT = 'Root Entry'

function entriesIn(directory: Buffer): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>()
  for (let at = 0; at + ENTRY_BYTES <= directory.length; at += ENTRY_BYTES) {
    const length = directory.readUInt16LE(at + 64)
    if (length <= 2 || length > 64) continue
    const name = directory.toString('utf16le', at, at + length - 2)
    // The upper half of the size is not defined in files with small sectors.
    const [first, size] = [directory.readUInt32LE(at + 116), directory.readUInt32LE(at + 120)]
    // Of equal names in several folders, the first one is that of the document.
    if (!entries.has(name)) entries.set(name, { name, first, size })
  }
  return entries
}

async function bytesAt(file: Pick<FileHandle, 'read'>, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await file.read(buffer, 0, length, position)
  return buffer.subarray(0, bytesRead)
}
