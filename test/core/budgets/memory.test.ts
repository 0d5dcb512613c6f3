import { expect } from 'chai'
import { mayBeWhole, mayStayUnstored, pieceSize } from '../../../src/core/budgets/memory.ts'

const KIB = 1024
const MIB = 1024 * KIB
const NEW = { isFast: false, hasLarge: false }
const FAST = { isFast: true, hasLarge: false }

describe('the memory of readers', () => {
  for (const [waitingBytes, ofNew, ofFast] of [
    [0, 'small', 'large'],
    [16 * MIB - 1, 'small', 'large'],
    [16 * MIB, 'small', 'small'],
    [32 * MIB - 1, 'small', 'small'],
    [32 * MIB, 'tiny', 'tiny'],
  ] as const)
    it(`allows ${ofNew} pieces, or ${ofFast} ones for fast readers, while ${waitingBytes} bytes wait`, () => {
      const memory = { waitingBytes, largeReaders: 0 }
      expect([pieceSize(memory, NEW), pieceSize(memory, FAST)]).to.deep.equal([ofNew, ofFast])
    })

  it('allows large pieces for 32 readers, which continue to get them', () => {
    expect(pieceSize({ waitingBytes: 0, largeReaders: 31 }, FAST)).to.equal('large')
    expect(pieceSize({ waitingBytes: 0, largeReaders: 32 }, FAST)).to.equal('small')
    expect(pieceSize({ waitingBytes: 0, largeReaders: 32 }, { ...FAST, hasLarge: true })).to.equal('large')
  })

  it('allows a whole response of the size of a small piece always, and of a large one while there is room', () => {
    const whole = (waitingBytes: number) =>
      [64 * KIB, 64 * KIB + 1, 256 * KIB, 256 * KIB + 1].map((bytes) => mayBeWhole(bytes, { waitingBytes }))
    expect(whole(16 * MIB - 1)).to.deep.equal([true, true, true, false])
    expect(whole(16 * MIB)).to.deep.equal([true, false, false, false])
  })

  it('allows 64 MiB of responses that are not stored anywhere', () => {
    expect(mayStayUnstored(24 * MIB, { unstoredBytes: 40 * MIB })).to.equal(true)
    expect(mayStayUnstored(24 * MIB + 1, { unstoredBytes: 40 * MIB })).to.equal(false)
  })
})
