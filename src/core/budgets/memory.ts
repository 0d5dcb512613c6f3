/** Sizes of the pieces in which answers are sent, in bytes. */
export const PIECE_BYTES = { tiny: 16 * 1024, small: 64 * 1024, large: 256 * 1024 } as const

/** What all readers of this process have in memory. */
export interface ReadersMemory {
  /** Bytes that wait for their readers. */
  waitingBytes: number
  /** How many readers have large pieces. */
  largeReaders: number
  /** Bytes of answers that are stored nowhere. */
  unstoredBytes: number
}

// Of all readers. Readers that were fast may stand still now: past this sum there are no large pieces.
const LARGE_UNTIL_BYTES = 16 * 1024 * 1024
// All of them may stop at the same moment, each with a piece that waits and one that was read ahead.
const MAX_LARGE_READERS = LARGE_UNTIL_BYTES / (2 * PIECE_BYTES.large)
// Past this sum pieces are tiny.
const SMALL_UNTIL_BYTES = 32 * 1024 * 1024
// Of all answers that are stored nowhere.
const MAX_UNSTORED_BYTES = 64 * 1024 * 1024

/**
 * The size of a reader's next piece. A fast reader gets large ones, since each costs a few system calls. With many readers that
 * stand still, each holds less.
 *
 * @param reader `isFast`: it has taken its last piece at once; `hasLarge`: it is one of `largeReaders`
 */
export function pieceSize(
  { waitingBytes, largeReaders }: Pick<ReadersMemory, 'waitingBytes' | 'largeReaders'>,
  { isFast, hasLarge }: { isFast: boolean; hasLarge: boolean },
): keyof typeof PIECE_BYTES {
  const mayBeLarge = hasLarge || largeReaders < MAX_LARGE_READERS
  if (isFast && mayBeLarge && waitingBytes < LARGE_UNTIL_BYTES) return 'large'
  return waitingBytes < SMALL_UNTIL_BYTES ? 'small' : 'tiny'
}

/** Whether an answer of so many bytes may be in memory as a whole: a small piece always, a large one while there is room. */
export function mayBeWhole(bytes: number, { waitingBytes }: Pick<ReadersMemory, 'waitingBytes'>): boolean {
  return bytes <= PIECE_BYTES.small || (bytes <= PIECE_BYTES.large && waitingBytes < LARGE_UNTIL_BYTES)
}

/** Whether one more answer that is stored nowhere may stay in memory until it is sent. */
export function mayStayUnstored(
  bytes: number,
  { unstoredBytes }: Pick<ReadersMemory, 'unstoredBytes'>,
): boolean {
  return unstoredBytes + bytes <= MAX_UNSTORED_BYTES
}
