import { expect } from 'chai'
import pino from 'pino'
import { derivativeKey } from '../../../src/core/files/object-key.ts'
import type { DerivativeIndex } from '../../../src/core/ports/file-index.ts'
import { createDerivativeSpace } from '../../../src/service/derivatives/space.ts'
import { newRef } from '../../contracts/file-index/file-index-states.ts'

const MOST = 1000

describe('the space for derivatives of a client, whose sum may be old', () => {
  for (const { old, exact, bytes, fits, asksExactly } of [
    { old: 800, exact: 999_999, bytes: 100, fits: true, asksExactly: false },
    { old: 801, exact: 850, bytes: 100, fits: true, asksExactly: true },
    { old: 801, exact: 901, bytes: 100, fits: false, asksExactly: true },
  ])
    it(`${fits ? 'suffices' : 'does not suffice'} for ${bytes} of ${MOST} bytes, with ${old} bytes before and ${exact} now`, async () => {
      const asked: boolean[] = []
      const index = {
        derivedBytes: async (_ref: unknown, { mayBeOld }: { mayBeOld: boolean }) => {
          asked.push(mayBeOld)
          return { client: mayBeOld ? old : exact, original: 0 }
        },
        leastUsed: async () => [],
      } as unknown as DerivativeIndex
      const space = createDerivativeSpace({
        index,
        evict: async () => false,
        limits: { variantLimit: 10, derivativesMaxBytes: MOST, derivativesMaxTimes: 50 },
        log: pino({ level: 'silent' }),
      })
      const client = { id: 'first', token: 'pub', secrets: [], createdAt: 0 }
      const original = { key: newRef('first').key, size: 100 }
      const claim = { client, original, key: derivativeKey(original.key, 'w_1'), isHeld: false }
      expect(await space.makeRoom(claim, bytes)).to.equal(fits)
      expect(asked.includes(false)).to.equal(asksExactly)
    })
})
