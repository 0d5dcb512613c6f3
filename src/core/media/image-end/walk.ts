/**
 * The next request of a walk through a file: bytes to read, bytes to skip, or all bytes up to and including this
 * value. `ofPixels`: these bytes are compressed pixels.
 */
export type Wish = { take: number } | (({ skip: number } | { find: number }) & { ofPixels?: boolean })

/** Walks through a file that arrives in pieces. Returns at the end of the image, or where the structure is broken. */
export type Walk = Generator<Wish, void, Uint8Array | undefined>

/** Returns the next bytes. */
export function* take(length: number): Generator<Wish, Uint8Array, Uint8Array | undefined> {
  return (yield { take: length }) as Uint8Array
}

/** Returns the next byte. */
export function* takeByte(): Generator<Wish, number, Uint8Array | undefined> {
  return (yield* take(1))[0] as number
}
