import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { pipeline as piped } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Asset } from '../../core/bytes/asset.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { isOutage, PAUSES_MS, persistently, sleep, type Waiting } from './persistence.ts'

const MEDIA_TYPE = 'application/gzip'
const PIECE_BYTES = 64 * 1024
// A line has at most 2 kB.
const LINE_MAX_BYTES = 16 * 1024

/**
 * Stores values as compressed lines of JSON, in place of an object that has this key. The lines are collected in a file of
 * the system's temporary folder first, since a run of hours has them: an open put would not survive an outage.
 */
export async function putLines(
  bucket: Bucket,
  key: ObjectKey,
  { lines, ...waiting }: Waiting & { lines: AsyncIterable<object> },
): Promise<void> {
  const file = await nameless()
  const { signal } = waiting
  try {
    await piped(textOf(lines), createGzip(), async (zipped) => {
      for await (const chunk of zipped) await file.appendFile(chunk as Buffer)
    })
    const put = () => bucket.put(key, Readable.from(bytesOf(file)), { mediaType: MEDIA_TYPE, signal })
    await persistently(put, waiting)
  } finally {
    await file.close()
  }
}

/** A temporary file without a name: nothing of it remains when the process is killed. */
async function nameless(): Promise<FileHandle> {
  const path = join(tmpdir(), `sluice-backup-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

async function* bytesOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(PIECE_BYTES), position })
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
}

async function* textOf(lines: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`
}

/**
 * Reads what {@link putLines} has stored. Memory is bounded: a line that is too long, or that bytes of zeros unpack to, ends the
 * reading.
 *
 * @returns undefined when the object does not exist
 * @throws Error for bytes that are no such lines; Problem when they cannot be read
 */
export async function readLines(
  bucket: Bucket,
  key: ObjectKey,
  waiting: Waiting,
): Promise<AsyncGenerator<unknown> | undefined> {
  const asset = await bucket.find(key, { mediaType: MEDIA_TYPE })
  return asset && parsed(asset, waiting)
}

async function* parsed(asset: Asset, waiting: Waiting): AsyncGenerator<unknown> {
  let rest = Buffer.alloc(0)
  const unzipped = pipeline(Readable.from(continued(asset, waiting)), createGunzip(), () => {})
  for await (const chunk of unzipped as AsyncIterable<Buffer>) {
    let bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10)) {
      yield JSON.parse(bytes.toString('utf8', 0, end))
      bytes = bytes.subarray(end + 1)
    }
    if (bytes.length > LINE_MAX_BYTES) throw new Error('a line is too long')
    rest = Buffer.from(bytes)
  }
  if (rest.length > 0) throw new Error('the last line is incomplete')
}

/** The bytes of an object. A store that closes the connection, since the reader does other work in between, is asked for the rest. */
async function* continued(asset: Asset, { signal, pause = sleep }: Waiting): AsyncGenerator<Buffer> {
  let start = 0
  for (let attempt = 0; start < asset.size; attempt += 1) {
    try {
      const range = { start, end: asset.size - 1 }
      const bytes = await asset.open({ signal, ...(start > 0 ? { range } : {}) })
      for await (const chunk of bytes as AsyncIterable<Buffer>) {
        start += chunk.length
        attempt = 0
        yield chunk
      }
      return
    } catch (error) {
      signal.throwIfAborted()
      const milliseconds = PAUSES_MS[attempt]
      if (!isOutage(error) || milliseconds === undefined) throw error
      await pause(milliseconds, signal)
    }
  }
}
