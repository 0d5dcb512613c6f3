import { once } from 'node:events'
import { finished, PassThrough, Readable } from 'node:stream'
import { ZipArchive } from 'archiver'
import { anySignal } from '../../core/async/any-signal.ts'

/** One file of an archive. */
export interface ArchiveEntry {
  /** With "/" between its segments; as it stands here, so it must be one that may be unpacked. */
  name: string
  modifiedAt: Date
  /** Whether deflating it is worth while. */
  deflated: boolean
  /** A stream that fails, fails {@link ZipWriter.add}. */
  bytes: Buffer | Readable
}

/** Writes one archive, as fast as its reader takes it. */
export interface ZipWriter {
  /** The archive. Whoever destroys it ends all work on it. */
  readonly output: Readable
  /**
   * Resolves when the file has been written and the reader has room for more; consumes or destroys its stream.
   * One at a time. Rejects when the stream or the output fails, and fails the output with it.
   */
  add(file: ArchiveEntry): Promise<void>
  /** Writes what stands behind the last file. */
  end(): Promise<void>
  /** Bytes so far. */
  readonly length: number
}

// Held before its reader takes it, in each of the two streams, beside one small file.
const HELD_BYTES = 64 * 1024
// archiver takes what looks like a drive off the front of a name, once in each of three places: "note:1.txt" would be
// "1.txt". These are what it finds.
const DRIVES = 'x:x:x:'

/** A writer over archiver, with what that lacks. */
export function createZipWriter(): ZipWriter {
  const zip = new ZipArchive({ zlib: { level: 6 }, highWaterMark: HELD_BYTES })
  const output = new PassThrough({ highWaterMark: HELD_BYTES })
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
      // archiver itself neither fails nor ends when a source breaks, and hides why one had broken before.
      const broken = new AbortController()
      if (bytes instanceof Readable && bytes.errored) broken.abort(bytes.errored)
      const { signal, leave } = anySignal([closed.signal, broken.signal])
      if (bytes instanceof Readable) finished(bytes, (error) => error && broken.abort(error))
      try {
        signal.throwIfAborted()
        const written = once(zip, 'entry', { signal })
        zip.append(bytes, { name: DRIVES + name, date: modifiedAt, store: !deflated, mode: 0o644 })
        await written
        // It writes files from memory without a look at whether anybody reads them.
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
      // It does not settle when the archive has been aborted.
      await Promise.all([once(zip, 'end', { signal: closed.signal }), zip.finalize()])
    },
    get length() {
      return zip.pointer()
    },
  }
}
