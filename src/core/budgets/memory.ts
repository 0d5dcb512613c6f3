/** Sizes of the pieces in which responses are sent, in bytes. */
export const PIECE_BYTES = { tiny: 16 * 1024, small: 64 * 1024, large: 256 * 1024 } as const

/** Memory that all readers of this process use. */
export interface ReadersMemory {
  /** Bytes that wait for their readers. */
  waitingBytes: number
  /** Number of readers with large pieces. */
  largeReaders: number
  /** Bytes of responses that are not stored anywhere. */
  unstoredBytes: number
}

// Limit of the bytes that wait for all readers. Fast readers may stall now: above this sum there are no large pieces.
const LARGE_UNTIL_BYTES = 16 * 1024 * 1024
// All of them may stall at the same moment, each with a piece that waits and one that was read ahead.
const MAX_LARGE_READERS = LARGE_UNTIL_BYTES / (2 * PIECE_BYTES.large)
// Above this sum pieces are tiny.
const SMALL_UNTIL_BYTES = 32 * 1024 * 1024
// Limit for all responses that are not stored anywhere.
const MAX_UNSTORED_BYTES = 64 * 1024 * 1024

/**
 * The size of a reader's next piece. A fast reader gets large pieces, since each piece costs a few system calls. With
 * many stalled readers, each holds less.
 *
 * @param reader `isFast`: it has taken its last piece at once; `hasLarge`: it is counted in `largeReaders`
 */
export function pieceSize(
  { waitingBytes, largeReaders }: Pick<ReadersMemory, 'waitingBytes' | 'largeReaders'>,
  { isFast, hasLarge }: { isFast: boolean; hasLarge: boolean },
): keyof typeof PIECE_BYTES {
  const mayBeLarge = hasLarge || largeReaders < MAX_LARGE_READERS
  if (isFast && mayBeLarge && waitingBytes < LARGE_UNTIL_BYTES) return 'large'
  return waitingBytes < SMALL_UNTIL_BYTES ? 'small' : 'tiny'
}

/**
 * Whether a response of this size may be in memory as a whole: a small piece always, a large one while there is room.
 */
export function mayBeWhole(bytes: number, { waitingBytes }: Pick<ReadersMemory, 'waitingBytes'>): boolean {
  return bytes <= PIECE_BYTES.small || (bytes <= PIECE_BYTES.large && waitingBytes < LARGE_UNTIL_BYTES)
}

/** Whether one more response that is not stored anywhere may stay in memory until it is sent. */
export function mayStayUnstored(
  bytes: number,
  { unstoredBytes }: Pick<ReadersMemory, 'unstoredBytes'>,
): boolean {
  return unstoredBytes + bytes <= MAX_UNSTORED_BYTES
}
