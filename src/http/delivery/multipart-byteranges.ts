import { randomBytes } from 'node:crypto'
import { type Asset, type ByteRange, lengthOf, type OpenOptions } from '../../core/bytes/asset.ts'
import { openPieces } from '../readers/open-pieces.ts'

/** What the body of an answer is. */
export interface Payload {
  /** As sent in `Content-Type`. */
  readonly mediaType: string
  /** Bytes. */
  readonly size: number
  /** Resolves once its first bytes are certain; the pieces fail rather than be fewer than `size` bytes. */
  open(options: OpenOptions): Promise<AsyncIterable<Buffer>>
  /** All of it at once, where it is one part of a file. */
  read?(signal: AbortSignal): Promise<Buffer>
}

/**
 * Several parts of a file as one `multipart/byteranges`, in the order given. Its size is known before anything is read,
 * and a part is opened when those before it have been read: one stream is open at a time.
 *
 * @see RFC 9110 section 14.6
 */
export function byteranges(asset: Asset, ranges: readonly ByteRange[]): Payload {
  // 144 random bits: in no file by chance, and nobody can put them into one beforehand.
  const boundary = randomBytes(18).toString('hex')
  const headOf = (range: ByteRange) =>
    Buffer.from(
      `\r\n--${boundary}\r\nContent-Type: ${asset.mediaType}\r\nContent-Range: ${contentRange(range, asset)}\r\n\r\n`,
    )
  const end = Buffer.from(`\r\n--${boundary}--\r\n`)

  async function* document(first: AsyncIterable<Buffer>, options: OpenOptions): AsyncGenerator<Buffer> {
    for (const [i, range] of ranges.entries()) {
      yield headOf(range)
      yield* i === 0 ? first : await openPieces(asset, { ...options, range })
    }
    yield end
  }

  return {
    mediaType: `multipart/byteranges; boundary=${boundary}`,
    size: ranges.reduce((sum, range) => sum + headOf(range).length + lengthOf(range), end.length),
    async open(options) {
      const [range] = ranges
      if (!range) throw new Error('expected ranges but received none')
      return document(await openPieces(asset, { ...options, range }), options)
    },
  }
}

/** As in a header. @see RFC 9110 section 14.4 */
export function contentRange({ start, end }: ByteRange, { size }: Pick<Asset, 'size'>): string {
  return `bytes ${start}-${end}/${size}`
}
