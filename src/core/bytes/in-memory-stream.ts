import { Readable } from 'node:stream'

/** A stream whose bytes are all in memory. A reader that needs all of them at once takes {@link bytes} instead of reading it. */
export class InMemoryStream extends Readable {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    super()
    this.bytes = bytes
  }

  override _read(): void {
    if (this.bytes.length > 0) this.push(this.bytes)
    this.push(null)
  }
}
