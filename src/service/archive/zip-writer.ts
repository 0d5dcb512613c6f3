import { once } from 'node:events'
import { finished, Readable, Transform } from 'node:stream'
import { ZipArchive } from 'archiver'
import { anySignal } from '../../core/async/any-signal.ts'
import { useNativeCrc } from './native-crc.ts'

/** One file of an archive. */
export interface ArchiveEntry {
  /** With "/" between its segments. It is written unchanged, so it must be safe to unpack. */
  name: string
  modifiedAt: Date
  /** Whether the bytes are compressed. */
  deflated: boolean
  /** When a stream fails, {@link ZipWriter.add} fails. */
  bytes: Buffer | Readable
}

/** Writes one archive, as fast as its reader takes it. */
export interface ZipWriter {
  /** The archive. Destroying it aborts all work on it. */
  readonly output: Readable
  /**
   * Resolves when the file has been written and the reader has room for more. Consumes or destroys its stream. Call it
   * for one file at a time. Rejects when the stream or the output fails, and then fails the output too.
   */
  add(file: ArchiveEntry): Promise<void>
  /** Writes the central directory and ends the archive. */
  end(): Promise<void>
  /** Bytes written so far. */
  readonly length: number
}

// The buffer size of each of the two streams. In addition, one small file is in memory.
const HELD_BYTES = 64 * 1024
// Smaller chunks are joined up to this size.
const SMALL_BYTES = 4096
// archiver removes a drive letter from the beginning of a name, once in each of three places: "note:1.txt" would become
// "1.txt". This prefix gives it three drive letters to remove.
const DRIVES = 'x:x:x:'

/** A writer based on archiver, with workarounds for its faults. */
export function createZipWriter(): ZipWriter {
  useNativeCrc()
  const zip = new ZipArchive({ zlib: { level: 6 }, highWaterMark: HELD_BYTES })
  const output = joinSmallChunks()
  const closed = new AbortController()
  output.once('close', () => {
    closed.abort(output.errored ?? new DOMException('the archive is closed', 'AbortError'))
    zip.abort()
  })
  zip.once('error', (error) => output.destroy(error))
  zip.pipe(output)

  return {
    output,
    async add({ name, modifiedAt, deflated, bytes }) {
      // When a source breaks, archiver neither fails nor ends. It also hides an earlier error of the source.
      const broken = new AbortController()
      if (bytes instanceof Readable && bytes.errored) broken.abort(bytes.errored)
      const { signal, leave } = anySignal([closed.signal, broken.signal])
      if (bytes instanceof Readable) finished(bytes, (error) => error && broken.abort(error))
      try {
        signal.throwIfAborted()
        const written = once(zip, 'entry', { signal })
        zip.append(bytes, { name: DRIVES + name, date: modifiedAt, store: !deflated, mode: 0o644 })
        await written
        // archiver writes buffers without waiting for the reader.
        while (zip.writableNeedDrain) await once(zip, 'drain', { signal })
      } catch (error) {
        const reason = signal.reason ?? error
        if (bytes instanceof Readable) bytes.destroy()
        output.destroy(reason)
        throw reason
      } finally {
        leave()
      }
    },
    async end() {
      // `finalize` never settles when the archive was aborted.
      await Promise.all([once(zip, 'end', { signal: closed.signal }), zip.finalize()])
    },
    get length() {
      return zip.pointer()
    },
  }
}

/**
 * Joins small chunks, up to the next large one: archiver writes each field of a header as a chunk, and each chunk would be a
 * system call. Large chunks stay the same objects, so that their memory can be reused.
 */
function joinSmallChunks(): Transform {
  let small: Buffer[] = []
  let bytes = 0
  const pushSmall = (stream: Transform) => {
    if (small.length > 0) stream.push(Buffer.concat(small))
    small = []
    bytes = 0
  }
  return new Transform({
    writableHighWaterMark: HELD_BYTES,
    // One chunk per read: in byte mode, a read would copy all chunks into one.
    readableObjectMode: true,
    readableHighWaterMark: 1,
    transform(chunk: Buffer, _encoding, done) {
      if (chunk.length < SMALL_BYTES) {
        small.push(chunk)
        bytes += chunk.length
        if (bytes >= SMALL_BYTES) pushSmall(this)
      } else {
        pushSmall(this)
        this.push(chunk)
      }
      done()
    },
    flush(done) {
      pushSmall(this)
      done()
    },
  })
}
