import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { addAbortSignal, Readable } from 'node:stream'

/** A version of a file, as `stat` returns it. */
export interface FileVersion {
  /** Bytes. */
  size: number
  mtimeMs: number
}

// The size in which Node's streams read files.
const CHUNK_BYTES = 64 * 1024

/**
 * The bytes of one version of a file. The stream fails when the file was changed before its end: the bytes would be a mixture of
 * two versions.
 */
export async function bytesOfVersion(
  path: string,
  version: FileVersion,
  signal: AbortSignal,
): Promise<Readable> {
  const file = await openRegular(path)
  const stream = new Readable({
    highWaterMark: CHUNK_BYTES,
    async read() {
      try {
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null)
        if (bytesRead > 0) return void this.push(buffer.subarray(0, bytesRead))
        const { size, mtimeMs } = await file.stat()
        if (size !== version.size || mtimeMs !== version.mtimeMs)
          throw new Error('the file was changed during the import')
        this.push(null)
      } catch (error) {
        this.destroy(error as Error)
      }
    },
    destroy(error, done) {
      const end = () => done(error)
      file.close().then(end, end)
    },
  })
  return addAbortSignal(signal, stream)
}

/** Opens a file that was found as a regular one. If a link has replaced it, this fails. A FIFO does not block. */
export function openRegular(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
}
