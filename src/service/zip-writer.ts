import { pipeline, type Readable } from 'node:stream'
import { promisify } from 'node:util'
import { crc32, createDeflateRaw, deflateRaw } from 'node:zlib'
import {
  centralDirectory,
  dataDescriptor,
  isLarge,
  localHeader,
  type ZipEntryRecord,
  type ZipHeader,
} from '../core/zip-format.ts'

/** A file on its way into an archive. */
export interface ZipFile {
  /** With "/" between its segments; as it stands here, so it must be one that may be unpacked. */
  name: string
  modifiedAt: Date
  /** Whether deflating it is worth while. */
  deflated: boolean
  /** Bytes. */
  size: number
  /** A stream of `size` bytes; one that fails, fails the archive. */
  bytes: Buffer | Readable
}

/** Writes one archive, as fast as its reader takes it, and holds nothing but names. */
export interface ZipWriter {
  /** The next file's bytes in the archive. Consumes or destroys those of the file. */
  file(file: ZipFile): AsyncGenerator<Buffer>
  /** What stands behind the last file. */
  end(): Buffer
  /** Bytes so far. */
  readonly length: number
}

const deflate = promisify(deflateRaw)

export function zipWriter(): ZipWriter {
  const entries: ZipEntryRecord[] = []
  let length = 0
  const counted = (bytes: Buffer) => {
    length += bytes.length
    return bytes
  }

  async function* ofBuffer(header: ZipHeader, bytes: Buffer): AsyncGenerator<Buffer> {
    const tried = header.deflated ? await deflate(bytes) : bytes
    const deflated = tried.length < bytes.length
    const packed = deflated ? tried : bytes
    const known = { checksum: crc32(bytes), packed: packed.length, size: bytes.length }
    entries.push({ ...header, ...known, deflated, known, offset: length })
    yield counted(localHeader({ ...header, deflated, known }))
    yield counted(packed)
  }

  async function* ofStream(header: ZipHeader, bytes: Readable): AsyncGenerator<Buffer> {
    const entry = { ...header, checksum: 0, packed: 0, size: 0, offset: length }
    // One that fails before it is read would otherwise end the process; the loop below throws it then.
    bytes.on('error', () => {})
    async function* summed(source: AsyncIterable<Buffer>) {
      for await (const chunk of source) {
        entry.checksum = crc32(chunk, entry.checksum)
        entry.size += chunk.length
        yield chunk
      }
    }
    try {
      yield counted(localHeader(header))
      // A failure of any of them destroys all, and is the loop's.
      const packed = header.deflated ? pipeline(bytes, summed, createDeflateRaw(), () => {}) : summed(bytes)
      for await (const chunk of packed as AsyncIterable<Buffer>) {
        entry.packed += chunk.length
        yield counted(chunk)
      }
      yield counted(dataDescriptor(header, entry))
      entries.push(entry)
    } finally {
      bytes.destroy()
    }
  }

  return {
    file({ name, modifiedAt, deflated, size, bytes }) {
      const header = { name: Buffer.from(name), modifiedAt, deflated, large: isLarge(size) }
      return Buffer.isBuffer(bytes) ? ofBuffer(header, bytes) : ofStream(header, bytes)
    },
    end: () => counted(centralDirectory(entries, length)),
    get length() {
      return length
    },
  }
}
