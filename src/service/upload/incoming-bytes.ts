import { createHash, type Hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { cleanFileName } from '../../core/files/file-name.ts'
import type { OriginalName } from '../../core/files/object-key.ts'
import type { Format } from '../../core/media/formats.ts'
import { type EndWatch, watchEnd } from '../../core/media/image-end/image-end.ts'
import { type ScriptWatch, watchScripts } from '../../core/media/scripts.ts'
import { sniffDepth } from '../../core/media/sniff/depth.ts'
import { SNIFF_BYTES, type SniffedType } from '../../core/media/sniff/sniff.ts'
import type { OriginalRecord } from '../../core/ports/file-index.ts'
import { tooLarge } from '../../core/problem.ts'
import type { IncomingFile } from './upload-request.ts'

/** A stream of incoming bytes, which can be read only once. */
export interface IncomingBytes {
  /** The first bytes: at least the requested number, or all bytes of a shorter stream. */
  head: Buffer
  /** The following bytes. A reader that stops before the end must call `return()`. */
  rest: AsyncIterator<Buffer>
}

/**
 * Waits for the first bytes, from which the file's type is detected. These are up to 1 MiB when the type follows a tag or is in a
 * directory.
 *
 * @param length the minimum number of bytes
 */
export async function takeHead(
  bytes: AsyncIterable<Buffer>,
  length: number = SNIFF_BYTES,
): Promise<IncomingBytes> {
  const rest = bytes[Symbol.asyncIterator]()
  const chunks: Buffer[] = []
  let received = 0
  async function readUntil(wanted: number): Promise<Buffer> {
    while (received < wanted) {
      const next = await rest.next()
      if (next.done) break
      chunks.push(next.value)
      received += next.value.length
    }
    return Buffer.concat(chunks)
  }
  const head = await readUntil(length)
  const depth = sniffDepth(head)
  return { head: depth > received ? await readUntil(depth) : head, rest }
}

/** Bytes that are read from their start later: nothing of them is needed before. */
export function unread(bytes: AsyncIterable<Buffer>): IncomingBytes {
  return { head: Buffer.alloc(0), rest: bytes[Symbol.asyncIterator]() }
}

/** Size, digest, checksum and facts of bytes, measured while they stream. */
export interface Meter {
  size: number
  /** SHA-256. */
  hash: Hash
  /** CRC-32, for archives. */
  crc32: number
  /** Detects truncated images; undefined for formats without an end mark. */
  end: EndWatch | undefined
  /** Finds the scripts of a text; undefined for other formats. */
  text: ScriptWatch | undefined
}

export function newMeter(format: Format): Meter {
  return { size: 0, hash: createHash('sha256'), crc32: 0, end: watchEnd(format), text: watchScripts(format) }
}

/** What the bytes of a file say about it. */
export type Measured = Pick<OriginalRecord, 'sha256' | 'truncated' | 'scripts'> & { crc32: number }

/** The digest and the checksum of the bytes, whether they are a truncated image, and the scripts of their text. */
export function measured({ hash, crc32, end, text }: Meter): Measured {
  const scripts = text?.scripts() ?? []
  return {
    sha256: hash.digest('hex'),
    crc32,
    ...(end?.isTruncated() ? { truncated: true } : {}),
    ...(scripts.length > 0 ? { scripts } : {}),
  }
}

/**
 * Passes the bytes on, counts and hashes them.
 *
 * @param options.sent called after the consumer has taken all bytes
 * @throws Problem 413 past `maxBytes`; errors of the byte stream
 */
export async function* metered(
  { head, rest }: IncomingBytes,
  { meter, maxBytes = Infinity, sent }: { meter: Meter; maxBytes?: number; sent?: () => void },
): AsyncGenerator<Buffer> {
  try {
    for (let chunk = head; ; ) {
      meter.size += chunk.length
      if (meter.size > maxBytes) throw tooLarge('a file', maxBytes)
      meter.hash.update(chunk)
      meter.crc32 = crc32(chunk, meter.crc32)
      meter.end?.add(chunk)
      meter.text?.add(chunk)
      yield chunk
      const next = await rest.next()
      if (next.done) break
      chunk = next.value
    }
    sent?.()
  } finally {
    await rest.return?.()
  }
}

/** The record of a file that has been stored. */
export function describe(
  file: IncomingFile,
  { key, sourceName }: OriginalName,
  { sniffed, ...known }: Measured & Pick<OriginalRecord, 'size' | 'storedAt'> & { sniffed: SniffedType },
): OriginalRecord {
  return { key, originalName: cleanFileName(file.name) || sourceName, mediaType: sniffed.mediaType, ...known }
}
