import { expect } from 'chai'
import { PIECE_BYTES } from '../../../src/core/budgets/memory.ts'
import { pieceOf } from '../../../src/core/bytes/piece.ts'
import { createPieceMemory } from '../../../src/core/bytes/piece-memory.ts'

describe('memory for pieces', () => {
  for (const bytes of [PIECE_BYTES.small, PIECE_BYTES.large]) {
    it(`is reused when it is released: ${bytes} bytes`, () => {
      const memory = createPieceMemory()
      const piece = memory.take(bytes)
      memory.giveBack(piece)
      expect(memory.take(bytes)).to.equal(piece)
    })

    it(`is reused when its beginning is released, if nothing else of it is sent: ${bytes} bytes`, () => {
      const memory = createPieceMemory()
      const piece = memory.take(bytes)
      memory.giveBack(pieceOf(piece, 1000))
      expect(memory.take(bytes)).to.equal(piece)
    })

    // The rest of the piece is still to be sent: another client would get its bytes in place of its own.
    it(`is not reused when only a part of it is released: ${bytes} bytes`, () => {
      const memory = createPieceMemory()
      const piece = memory.take(bytes)
      for (let at = 0; at < bytes; at += 16_384) memory.giveBack(piece.subarray(at, at + 16_384))
      memory.giveBack(Buffer.from(piece.buffer, piece.byteOffset, piece.length))
      piece.fill(0)
      for (let i = 0; i < 32; i += 1) memory.take(bytes).fill(1)
      expect(piece.includes(1)).to.equal(false)
    })

    it(`is not given to two callers when it is released twice: ${bytes} bytes`, () => {
      const memory = createPieceMemory()
      const piece = memory.take(bytes)
      memory.giveBack(piece)
      memory.giveBack(piece)
      const [one, other] = [memory.take(bytes).fill(1), memory.take(bytes).fill(2)]
      expect([one.includes(2), other.includes(1)]).to.deep.equal([false, false])
    })
  }
})
