/**
 * The fields of a hash that have the entry of an original: pieces of {@link PIECE} bytes, the last of any length. Redis stores a hash
 * compactly when each value has at most 64 bytes. All pieces exist, since Redis reads the whole hash when it looks for a field that
 * does not. The names of derivatives begin with `_`, so they differ from these.
 */
export const PIECES = ['', '1', '2'] as const
/** Redis stores a text of at most 63 bytes with one byte less. */
export const PIECE = 63

/** The entry of these pieces; undefined when there is none. */
export function joined([first, second, third]: ReadonlyArray<Buffer | null | undefined> = []):
  | Buffer
  | undefined {
  if (!first || !second?.length) return first ?? undefined
  return Buffer.concat(third?.length ? [first, second, third] : [first, second])
}
