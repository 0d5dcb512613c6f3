import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { InMemoryStream } from './in-memory-stream.ts'

/**
 * Computes the CRC-32 of bytes while they are read. Destroying `bytes` destroys `source`.
 * @returns `checksum`: valid after the last byte was read
 */
export function checksummed(source: Readable): { bytes: Readable; checksum: () => number } {
  if (source instanceof InMemoryStream) return { bytes: source, checksum: () => crc32(source.bytes) }
  let sum = 0
  async function* passing() {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      sum = crc32(chunk, sum)
      yield chunk
    }
  }
  // Until the first read, an error of the source has no handler. The first read reports it.
  source.on('error', () => {})
  const bytes = Readable.from(passing(), { objectMode: false })
  // A stream that is destroyed before its first read never starts its generator.
  bytes.once('close', () => source.destroy())
  return { bytes, checksum: () => sum }
}
