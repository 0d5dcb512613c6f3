import { Readable } from 'node:stream'

const wholes = new WeakMap<Readable, Uint8Array>()

/** Creates a stream over bytes in memory, as one piece. {@link takeWhole} returns the bytes without the cost of a stream. */
export function streamOf(bytes: Uint8Array): Readable {
  // The array prevents Readable.from from iterating over the single bytes.
  const stream = Readable.from([bytes])
  wholes.set(stream, bytes)
  return stream
}

/**
 * Returns all bytes of an unread stream of {@link streamOf}, and destroys it. Undefined for every other stream, which is left
 * as it is.
 */
export function takeWhole(stream: Readable): Uint8Array | undefined {
  const bytes = wholes.get(stream)
  if (bytes === undefined || stream.readableDidRead || stream.destroyed) return undefined
  stream.destroy()
  return bytes
}
