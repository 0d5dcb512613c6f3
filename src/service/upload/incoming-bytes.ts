import { createHash, type Hash } from 'node:crypto'
import type { Format } from '../../core/media/formats.ts'
import { type EndWatch, watchEnd } from '../../core/media/image-end/image-end.ts'
import { sniffDepth } from '../../core/media/sniff/depth.ts'
import { SNIFF_BYTES } from '../../core/media/sniff/sniff.ts'
import { tooLarge } from '../../core/problem.ts'

/** Bytes that are coming in, and can be read only once. */
export interface IncomingBytes {
  /** The first ones: at least as many as were wanted, or all that there are. */
  head: Buffer
  /** What follows. Whoever does not read it to its end returns it. */
  rest: AsyncIterator<Buffer>
}

/**
 * Waits for the first bytes: those that tell the file's type, which may be up to 1 MiB when it is behind a tag or in a directory.
 *
 * @param length how many are wanted at least
 */
export async function takeHead(
  bytes: AsyncIterable<Buffer>,
  length: number = SNIFF_BYTES,
): Promise<IncomingBytes> {
  const rest = bytes[Symbol.asyncIterator]()
  const chunks: Buffer[] = []
  let come = 0
  async function readUntil(wanted: number): Promise<Buffer> {
    while (come < wanted) {
      const next = await rest.next()
      if (next.done) break
      chunks.push(next.value)
      come += next.value.length
    }
    return Buffer.concat(chunks)
  }
  const head = await readUntil(length)
  const depth = sniffDepth(head)
  return { head: depth > come ? await readUntil(depth) : head, rest }
}

/** What is known of bytes once they have gone by. */
export interface Meter {
  size: number
  /** SHA-256. */
  hash: Hash
  /** Of a picture, whether all of it is there. */
  end: EndWatch | undefined
}

export function newMeter(format: Format): Meter {
  return { size: 0, hash: createHash('sha256'), end: watchEnd(format) }
}

/** The digest of the bytes, and what is to be known of their picture. */
export function measured({ hash, end }: Meter): { sha256: string; truncated?: true } {
  return { sha256: hash.digest('hex'), ...(end?.isTruncated() ? { truncated: true } : {}) }
}

/**
 * Passes the bytes on, counts and hashes them.
 *
 * @param options.sent told when all have been asked for
 * @throws Problem 413 past `maxBytes`, whatever the bytes fail with
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
      meter.end?.add(chunk)
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
