import { expect } from 'chai'
import type { Claim } from '../../../src/adapters/locks/redis-claim.ts'
import { takeTurn } from '../../../src/adapters/locks/redis-turn.ts'
import { rejection } from '../../support/rejection.ts'

describe('a lock whose response took longer than its lease', () => {
  it('is released, and its work does not begin: another process may hold it', async () => {
    const steps: string[] = []
    const claim: Claim = {
      // The lease began before the request.
      leaseMs: 0,
      ask: async () => 'held',
      leave: async () => {},
      renew: async () => 'renewed',
      giveUp: async () => {},
      finish: async () => void steps.push('released'),
    }
    const work = async () => void steps.push('work')
    const { join } = takeTurn({ claim, work, limitMs: 60_000 })
    const error = await rejection(join(new AbortController().signal))
    expect(error).to.include({ status: 503, message: 'The work was interrupted. Try again.' })
    expect(steps).to.deep.equal(['released'])
  })
})
