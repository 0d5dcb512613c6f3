import { createReadStream, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { type Asset, lengthOf } from '../../../core/bytes/asset.ts'
import { fileNotFound, fileReplaced } from '../../../core/problem.ts'
import { unlessMissing } from './folders.ts'
import { diskPieces, SMALL_PIECE_BYTES } from './pieces.ts'

// What is read or written at a time: large enough that a gigabyte is not a million turns of the event loop.
export const PIECE_BYTES = 256 * 1024

/** A file of a disk, as it was found. */
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

/** A put creates a new inode; a file that is truncated in place has another size. The time alone changes every few milliseconds. */
function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs
}

/**
 * Reads it at once and lets go of the file: of a small one, a stream that reads costs more than the reading, and of one
 * that is wanted as a whole its pieces are as much again for the garbage collector.
 */
async function onePiece(
  file: FileHandle,
  { start, length, isPart }: { start: number; length: number; isPart: boolean },
): Promise<Readable> {
  // One byte more than a whole file has, so that a longer file is noticed.
  const bytes = Buffer.allocUnsafe(isPart ? length : length + 1)
  let read = 0
  try {
    // A disk that is a network away may give less than it is asked for.
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
