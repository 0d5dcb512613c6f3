/** Memory for pieces of answers, used again and again. */
export interface PieceMemory {
  /** @param bytes 64 KiB, or 256 KiB, or less than 64 KiB, which is not used again */
  take(bytes: number): Buffer
  /** What has been sent; what comes from elsewhere is ignored. */
  giveBack(piece: Buffer): void
}

export const SMALL_PIECE_BYTES = 64 * 1024
export const LARGE_PIECE_BYTES = 256 * 1024
// What readers that come and go leave for the next ones.
const MAX_FREE = { [SMALL_PIECE_BYTES]: 64, [LARGE_PIECE_BYTES]: 16 }

/**
 * Small pieces are quarters of large ones: glibc maps blocks of 128 KiB by themselves and gives them back to the system when they
 * are free (see scripts/node.sh), where smaller ones leave holes in its heap. Memory from the system costs four times as
 * much as sending the piece, hence it is used again.
 */
export function createPieceMemory(): PieceMemory {
  const free: Record<number, Buffer[]> = { [SMALL_PIECE_BYTES]: [], [LARGE_PIECE_BYTES]: [] }
  const sizes = new WeakMap<ArrayBufferLike, number>()

  function newBlock(size: number): Buffer {
    const block = Buffer.allocUnsafeSlow(LARGE_PIECE_BYTES)
    sizes.set(block.buffer, size)
    for (let at = size; at < block.length; at += size) free[size]?.push(block.subarray(at, at + size))
    return block.subarray(0, size)
  }

  return {
    take(bytes) {
      if (bytes < SMALL_PIECE_BYTES) return Buffer.allocUnsafeSlow(bytes)
      return free[bytes]?.pop() ?? newBlock(bytes)
    },
    giveBack({ buffer, byteOffset }) {
      const size = sizes.get(buffer)
      const list = size && free[size]
      if (!size || !list || list.length >= (MAX_FREE[size] ?? 0)) return
      list.push(Buffer.from(buffer as ArrayBuffer, byteOffset - (byteOffset % size), size))
    },
  }
}
