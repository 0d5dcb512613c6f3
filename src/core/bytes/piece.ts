// Parts by the memory that they begin.
const memories = new WeakMap<Buffer, Buffer>()

/**
 * The first bytes of a memory, as a piece that is sent. The rest of the memory stays unused, so the whole memory is free as soon as the
 * piece is sent: {@link memoryOf}.
 */
export function pieceOf(memory: Buffer, length: number): Buffer {
  if (length === memory.length) return memory
  const piece = memory.subarray(0, length)
  memories.set(piece, memory)
  return piece
}

/** The memory of a piece; the same buffer when it is no piece of {@link pieceOf}. */
export function memoryOf(piece: Buffer): Buffer {
  return memories.get(piece) ?? piece
}
