import { closeSync, createReadStream, fstatSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import { type Asset, lengthOf } from '../../../core/bytes/asset.ts'
import { InMemoryStream } from '../../../core/bytes/in-memory-stream.ts'
import { fileNotFound, fileReplaced } from '../../../core/problem.ts'
import { unlessMissing } from './folders.ts'
import { diskPieces, SMALL_PIECE_BYTES } from './pieces.ts'
import { type FileCalls, IN_THREADS, type QuickReads, READING } from './quick-reads.ts'

// Bytes per read or write: large enough that a gigabyte does not take a million turns of the event loop.
export const PIECE_BYTES = 256 * 1024

/** An `Asset` for a file on the disk, as `stat` found it. */
export function diskAsset(path: string, found: Stats, mediaType: string, quick: QuickReads): Asset {
  return {
    size: found.size,
    lastModified: found.mtime,
    mediaType,
    // Computed where it is read: most assets are deliveries.
    get tag() {
      return tagOfFile(found)
    },
    file: path,
    async open({ range, signal, atOnce = false, newPiece } = {}) {
      const length = range ? lengthOf(range) : found.size
      const start = range?.start ?? 0
      const check = (current: () => Stats) => {
        if (range && !isSame(found, current())) throw fileReplaced()
        signal?.throwIfAborted()
      }
      if (atOnce || length <= (newPiece ? SMALL_PIECE_BYTES : PIECE_BYTES))
        return new InMemoryStream(
          await readPiece(path, {
            start,
            length,
            isPart: !!range,
            check,
            calls: length <= PIECE_BYTES ? quick.calls() : IN_THREADS,
          }),
        )
      if (newPiece) {
        const file = await openFile(path, { check, calls: quick.calls() })
        return diskPieces(file, { start, length, isPart: !!range, newPiece, signal, quick })
      }
      const file = await unlessMissing(open(path, READING))
      if (!file) throw fileNotFound()
      try {
        check(() => fstatSync(file.fd))
      } catch (error) {
        await file.close()
        throw error
      }
      return createReadStream('', {
        fd: file,
        highWaterMark: PIECE_BYTES,
        ...range,
        ...(signal ? { signal } : {}),
      })
    },
  }
}

/** The tag of a file: a put creates a new inode, see {@link isSame}. */
export function tagOfFile({ ino, size, mtimeMs }: Pick<Stats, 'ino' | 'size' | 'mtimeMs'>): string {
  return `${ino.toString(36)}-${size.toString(36)}-${Math.round(mtimeMs * 1000).toString(36)}`
}

/**
 * A put creates a new inode. A file truncated in place has another size. The time alone does not suffice: it has a
 * resolution of a few milliseconds.
 */
function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs
}

/**
 * Reads bytes into memory. For a small file, a read stream costs more than the read itself. For a file that is needed as a
 * whole, pieces would double the work of the garbage collector.
 *
 * Only the two calls that may wait for a disk are those of `calls`: the state of an open file is in memory, and to close a file that
 * was only read writes nothing.
 *
 * @throws Problem 404 when the file has been deleted
 */
async function readPiece(
  path: string,
  { start, length, isPart, ...opening }: { start: number; length: number; isPart: boolean } & Opening,
): Promise<Buffer> {
  const { calls } = opening
  const file = await openFile(path, opening)
  try {
    // One byte more than the expected size of a whole file, so that a longer file is noticed.
    const bytes = Buffer.allocUnsafe(isPart ? length : length + 1)
    let read = 0
    // A network disk may return fewer bytes than requested.
    for (let more = -1; read < length && more !== 0; read += more) {
      more = await calls.read(file, bytes.subarray(read), start + read)
    }
    return bytes.subarray(0, read)
  } finally {
    closeSync(file)
  }
}

interface Opening {
  /** Throws if the open file cannot be used. */
  check: (current: () => Stats) => void
  calls: FileCalls
}

/** @throws Problem 404 when the file has been deleted, and what `check` throws */
async function openFile(path: string, { check, calls }: Opening): Promise<number> {
  const file = await calls.open(path)
  if (file === undefined) throw fileNotFound()
  try {
    check(() => fstatSync(file))
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}
