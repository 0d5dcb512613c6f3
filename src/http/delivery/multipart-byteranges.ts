import { randomBytes } from 'node:crypto'
import { type Asset, type ByteRange, lengthOf, type OpenOptions } from '../../core/bytes/asset.ts'
import { openPieces } from '../readers/open-pieces.ts'

// Of our own: the package send, which Express has, responds to several ranges with the whole file, and reads files of a disk only.

/** The body of a response. */
export interface Payload {
  /** The value of `Content-Type`. */
  readonly mediaType: string
  /** Bytes. */
  readonly size: number
  /** Resolves when the first bytes are available. The iteration throws if it cannot return `size` bytes. */
  open(options: OpenOptions): Promise<AsyncIterable<Buffer>>
  /** Reads the complete body at once; absent for several ranges. */
  read?(signal: AbortSignal): Promise<Buffer>
}

/**
 * Several ranges of a file as one `multipart/byteranges`, in the given order. Its size is known before the file is read. A range
 * is opened after the ones before it have been read, so one stream is open at a time.
 *
 * @see RFC 9110 section 14.6
 */
export function byteranges(asset: Asset, ranges: readonly ByteRange[]): Payload {
  // 144 random bits: no file contains them by chance, and no uploader can predict them.
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

/** The value of a `Content-Range` header. @see RFC 9110 section 14.4 */
export function contentRange({ start, end }: ByteRange, { size }: Pick<Asset, 'size'>): string {
  return `bytes ${start}-${end}/${size}`
}
