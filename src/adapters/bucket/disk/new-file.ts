import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { InMemoryStream } from '../../../core/bytes/in-memory-stream.ts'
import { PIECE_BYTES } from './asset.ts'

/**
 * Writes all of `bytes` into a new file, and flushes it. It is closed when this resolves or rejects: an error leaves it with a
 * part of the bytes. Consumes or destroys the stream.
 */
export async function writeNewFile(
  path: string,
  bytes: Readable,
  signal: AbortSignal | undefined,
): Promise<void> {
  // A derivative is in memory. Through two streams, its put would take 0.5 ms of CPU time instead of 0.3.
  if (bytes instanceof InMemoryStream && !bytes.readableDidRead && !bytes.destroyed) {
    bytes.destroy()
    await writeWhole(path, bytes.bytes, signal)
  } else await writePieces(path, bytes, signal)
  signal?.throwIfAborted()
}

async function writeWhole(path: string, bytes: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  const file = await open(path, 'wx', 0o600)
  try {
    for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
    await file.sync()
  } finally {
    await file.close()
  }
}

async function writePieces(path: string, bytes: Readable, signal: AbortSignal | undefined): Promise<void> {
  // `flush` is an fsync before the close.
  const file = createWriteStream(path, {
    flags: 'wx',
    mode: 0o600,
    flush: true,
    // While one write is in progress, further bytes are buffered for the next write.
    highWaterMark: PIECE_BYTES,
  })
  const closed = new Promise<void>((done) => file.once('close', () => done()))
  try {
    await pipeline(bytes, file, signal ? { signal } : {})
  } catch (error) {
    // A file that is still being opened would appear after its removal. So wait until it is closed.
    file.destroy()
    await closed
    throw error
  }
}
