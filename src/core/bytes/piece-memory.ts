import { PIECE_BYTES } from '../budgets/memory.ts'
import { memoryOf } from './piece.ts'

/** Reusable memory for pieces of responses. */
export interface PieceMemory {
  /** @param bytes 64 KiB or 256 KiB; or fewer than 64 KiB, which are not reused */
  take(bytes: number): Buffer
  /**
   * Takes back a piece that was sent. Its memory is reused only if the piece is exactly a buffer that {@link PieceMemory.take} has
   * returned, or its beginning by `pieceOf`, and only once: other parts of a buffer may still be waiting to be sent.
   */
  giveBack(piece: Buffer): void
  /** Frees memory that was not used since the last call. @returns whether there is more to free */
  trim(): boolean
}

const { small: SMALL_PIECE_BYTES, large: LARGE_PIECE_BYTES } = PIECE_BYTES
// The numbers of free pieces that remain for the next readers.
const MAX_FREE = [
  [SMALL_PIECE_BYTES, 64],
  [LARGE_PIECE_BYTES, 16],
] as const

/**
 * Small pieces are quarters of large ones: glibc maps blocks of 128 KiB separately and returns them to the system when
 * they are freed (see scripts/node.sh). Smaller blocks leave holes in its heap. Pieces are reused, because getting
 * memory from the system for each piece costs more than sending it.
 */
export function createPieceMemory(): PieceMemory {
  const free: Record<number, Buffer[]> = { [SMALL_PIECE_BYTES]: [], [LARGE_PIECE_BYTES]: [] }
  /** The minimum of free pieces since the last {@link PieceMemory.trim}. */
  const leastFree: Record<number, number> = {}
  const taken = new WeakSet<Buffer>()

  function newBlock(size: number): Buffer {
    const block = Buffer.allocUnsafeSlow(LARGE_PIECE_BYTES)
    for (let at = size; at < block.length; at += size) free[size]?.push(block.subarray(at, at + size))
    return block.subarray(0, size)
  }

  return {
    take(bytes) {
      if (bytes < SMALL_PIECE_BYTES) return Buffer.allocUnsafeSlow(bytes)
      const piece = free[bytes]?.pop() ?? newBlock(bytes)
      leastFree[bytes] = Math.min(leastFree[bytes] ?? 0, free[bytes]?.length ?? 0)
      taken.add(piece)
      return piece
    },
    giveBack(piece) {
      const memory = memoryOf(piece)
      if (taken.delete(memory)) free[memory.length]?.push(memory)
    },
    trim() {
      let isMore = false
      for (const [size, most] of MAX_FREE) {
        const list = free[size] ?? []
        // The oldest first: quarters of one block that are returned together are freed together.
        list.splice(0, Math.max(0, Math.min(leastFree[size] ?? 0, list.length - most)))
        leastFree[size] = list.length
        isMore ||= list.length > most
      }
      return isMore
    },
  }
}
