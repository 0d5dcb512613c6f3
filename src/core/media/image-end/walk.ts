/**
 * What a walk through a file wants next: bytes to look at, bytes to skip, or all up to and with a byte of this value.
 * `ofPixels`: these bytes are compressed pixels.
 */
export type Wish = { take: number } | (({ skip: number } | { find: number }) & { ofPixels?: boolean })

/** Walks through a file that comes in pieces. It returns at the end of the picture, or where the structure is broken. */
export type Walk = Generator<Wish, void, Uint8Array | undefined>

/** The next bytes. */
export function* take(length: number): Generator<Wish, Uint8Array, Uint8Array | undefined> {
  return (yield { take: length }) as Uint8Array
}

/** The next byte. */
export function* takeByte(): Generator<Wish, number, Uint8Array | undefined> {
  return (yield* take(1))[0] as number
}
