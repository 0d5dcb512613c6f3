import { expect } from 'chai'
import { redisDivisions } from '../../../../src/adapters/file-index/partitioned/divisions.ts'
import type { Division } from '../../../../src/adapters/file-index/partitioned/partitions.ts'
import type { RedisConnection } from '../../../../src/adapters/redis/connection.ts'
import { PARTITIONS } from '../../../../src/core/files/partition.ts'
import { unavailable } from '../../../../src/core/problem.ts'
import { rejection } from '../../../support/rejection.ts'

const TIMES = { trustMs: 1000, noticeMs: 6000, pauseMs: 2000 }
const MOVE = { from: 1, to: 64, id: 'x' }

/** A process whose clock and whose Redis the test controls. */
function opened() {
  const state = {
    now: 5000,
    /** What Redis answers: the division, and the milliseconds until a move begins. */
    stored: ['1', -2] as [string, number] | undefined,
    /** How long a response takes. */
    latencyMs: 0,
    /** The waits so far. */
    waits: [] as number[],
  }
  const redis = {
    async send() {
      state.now += state.latencyMs
      if (!state.stored) throw unavailable('It is lost.')
      return state.stored
    },
  } as unknown as RedisConnection
  const keyspaces = Array.from({ length: PARTITIONS }, () => ({ redis, keyPrefix: '{a}:' }))
  const divisions = redisDivisions(keyspaces, {
    perClient: 1,
    times: TIMES,
    clock: {
      now: () => state.now,
      async wait(ms) {
        state.waits.push(ms)
        state.now += ms
        if (state.stored) state.stored = [state.stored[0], state.stored[1] > ms ? state.stored[1] - ms : -2]
      },
    },
  })
  return { state, of: (): Promise<Division> => divisions.of('one') }
}

describe('the division of a client', () => {
  it('is that before a move until its pause, then waits, and is the move from its begin on', async () => {
    const { state, of } = opened()
    expect(await of()).to.equal(1)
    // All processes read it again before the pause begins.
    state.now += 1001
    state.stored = ['1>64@x', 7000]
    expect(await of()).to.equal(1)
    expect(state.waits).to.deep.equal([])
    // As it was read before, within the time of trust.
    state.now += 999
    expect(await of()).to.equal(1)
    state.now += 2
    state.stored = ['1>64@x', 1999]
    expect(await of()).to.deep.equal(MOVE)
    expect(state.waits).to.deep.equal([1999])
    state.stored = ['1>64@x', -2]
    expect(await of()).to.deep.equal(MOVE)
    state.now += 1001
    state.stored = ['64', -2]
    expect(await of()).to.equal(64)
    expect(state.waits).to.have.length(1)
  })

  it('counts the time of a response to the pause, since Redis may have read its clock at its begin or end', async () => {
    const { state, of } = opened()
    state.latencyMs = 300
    state.stored = ['1>64@x', 2299]
    // Where Redis has answered at once, the pause has begun a millisecond ago. Where it has not, it ends after 2299 ms.
    expect(await of()).to.deep.equal(MOVE)
    expect(state.waits).to.deep.equal([2299])
    const other = opened()
    other.state.latencyMs = 300
    other.state.stored = ['1>64@x', 2301]
    expect(await other.of()).to.equal(1)
  })

  it('is the last known one while its node is down, and unknown to a process that has read none', async () => {
    const { state, of } = opened()
    state.stored = ['64', -2]
    expect(await of()).to.equal(64)
    state.now += 60_000
    state.stored = undefined
    expect(await of()).to.equal(64)
    const other = opened()
    other.state.stored = undefined
    expect(await rejection(other.of())).to.include({ status: 503 })
  })

  it('is refused when it is of a later version', async () => {
    const { state, of } = opened()
    state.stored = ['64 by folder', -2]
    expect(String(await rejection(of()))).to.include('received "64 by folder"')
  })
})
