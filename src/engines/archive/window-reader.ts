import { RandomAccessReader } from 'yauzl'
import { type Asset, readWhole } from '../../core/bytes/asset.ts'

// An entry is read in pieces of 46 bytes and more. Each piece would be a request to S3.
const WINDOW_BYTES = 64 * 1024

/** Gives yauzl the bytes of a file, through a window that moves forward. */
export class WindowReader extends RandomAccessReader {
  /** Bytes that were read from the file. */
  bytesRead = 0
  /** The error of the storage, which is no error in the archive. */
  failure: unknown
  readonly #source: Asset
  readonly #signal: AbortSignal
  #window: { start: number; bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) }

  constructor(source: Asset, signal: AbortSignal) {
    super()
    this.#source = source
    this.#signal = signal
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (err: Error | null) => void,
  ): void {
    if (position < 0 || position + length > this.#source.size) {
      callback(new Error('the archive names a place outside of its file'))
      return
    }
    this.#at(position, length).then(
      (bytes) => {
        bytes.copy(buffer, offset)
        callback(null)
      },
      (error: Error) => {
        this.failure = error
        callback(error)
      },
    )
  }

  async #at(position: number, length: number): Promise<Buffer> {
    const from = position - this.#window.start
    if (from >= 0 && from + length <= this.#window.bytes.length)
      return this.#window.bytes.subarray(from, from + length)
    const end = Math.min(this.#source.size, position + Math.max(length, WINDOW_BYTES)) - 1
    const range = { start: position, end }
    this.#window = {
      start: position,
      bytes: await readWhole(this.#source, { range, signal: this.#signal }),
    }
    this.bytesRead += this.#window.bytes.length
    return this.#window.bytes.subarray(0, length)
  }
}
