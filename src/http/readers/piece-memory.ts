import { PIECE_BYTES } from '../../core/budgets/memory.ts'

/** Memory for pieces of answers, used again and again. */
export interface PieceMemory {
  /** @param bytes 64 KiB, or 256 KiB, or less than 64 KiB, which is not used again */
  take(bytes: number): Buffer
  /**
   * What has been sent. Only the very buffer that {@link PieceMemory.take} has given, once, is used again: of a part of it, the
   * rest may be still to be sent.
   */
  giveBack(piece: Buffer): void
  /** Lets go of what nobody has taken since the last time. @returns whether there is more of it */
  trim(): boolean
}

const { small: SMALL_PIECE_BYTES, large: LARGE_PIECE_BYTES } = PIECE_BYTES
// What stays for the next readers.
const MAX_FREE = [
  [SMALL_PIECE_BYTES, 64],
  [LARGE_PIECE_BYTES, 16],
] as const

/**
 * Small pieces are quarters of large ones: glibc maps blocks of 128 KiB by themselves and gives them back to the system when they
 * are free (see scripts/node.sh), where smaller ones leave holes in its heap. Memory that comes from the system
 * for each piece costs more than sending it, hence it is used again.
 */
export function createPieceMemory(): PieceMemory {
  const free: Record<number, Buffer[]> = { [SMALL_PIECE_BYTES]: [], [LARGE_PIECE_BYTES]: [] }
  /** Since the last {@link PieceMemory.trim}. */
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
      if (taken.delete(piece)) free[piece.length]?.push(piece)
    },
    trim() {
      let isMore = false
      for (const [size, most] of MAX_FREE) {
        const list = free[size] ?? []
        // The oldest: quarters of a block that are given back together go together.
        list.splice(0, Math.max(0, Math.min(leastFree[size] ?? 0, list.length - most)))
        leastFree[size] = list.length
        isMore ||= list.length > most
      }
      return isMore
    },
  }
}
