import { createReadStream, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { type Asset, lengthOf } from '../../../core/bytes/asset.ts'
import { fileNotFound, fileReplaced } from '../../../core/problem.ts'
import { unlessMissing } from './folders.ts'
import { diskPieces, SMALL_PIECE_BYTES } from './pieces.ts'

// Bytes per read or write: large enough that a gigabyte does not take a million turns of the event loop.
export const PIECE_BYTES = 256 * 1024

/** An `Asset` for a file on the disk, as `stat` found it. */
export function diskAsset(path: string, found: Stats, mediaType: string): Asset {
  return {
    size: found.size,
    lastModified: found.mtime,
    mediaType,
    file: path,
    async open({ range, signal, atOnce = false, newPiece } = {}) {
      const file = await unlessMissing(open(path, 'r'))
      if (!file) throw fileNotFound()
      try {
        if (range && !isSame(found, await file.stat())) throw fileReplaced()
        signal?.throwIfAborted()
      } catch (error) {
        await file.close()
        throw error
      }
      const length = range ? lengthOf(range) : found.size
      const start = range?.start ?? 0
      if (atOnce || length <= (newPiece ? SMALL_PIECE_BYTES : PIECE_BYTES))
        return onePiece(file, { start, length, isPart: !!range })
      if (newPiece) return diskPieces(file, { start, length, isPart: !!range, newPiece, signal })
      return createReadStream('', {
        fd: file,
        highWaterMark: PIECE_BYTES,
        ...range,
        ...(signal ? { signal } : {}),
      })
    },
  }
}

/**
 * A put creates a new inode. A file truncated in place has another size. The time alone does not suffice: it has a
 * resolution of a few milliseconds.
 */
function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs
}

/**
 * Reads all bytes into memory and closes the file. For a small file, a read stream costs more than the read itself. For
 * a file that is needed as a whole, pieces would double the work of the garbage collector.
 */
async function onePiece(
  file: FileHandle,
  { start, length, isPart }: { start: number; length: number; isPart: boolean },
): Promise<Readable> {
  // One byte more than the expected size of a whole file, so that a longer file is noticed.
  const bytes = Buffer.allocUnsafe(isPart ? length : length + 1)
  let read = 0
  try {
    // A network disk may return fewer bytes than requested.
    for (let more = -1; read < length && more !== 0; read += more) {
      more = (await file.read(bytes, read, bytes.length - read, start + read)).bytesRead
    }
  } finally {
    await file.close()
  }
  const stream = new Readable({ read() {} })
  if (read > 0) stream.push(bytes.subarray(0, read))
  stream.push(null)
  return stream
}
