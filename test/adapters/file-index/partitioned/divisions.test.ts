import { expect } from 'chai'
import { textOf } from '../../../../src/adapters/file-index/partitioned/division.ts'
import { redisDivisions } from '../../../../src/adapters/file-index/partitioned/divisions.ts'
import type { RedisConnection } from '../../../../src/adapters/redis/connection.ts'
import { PARTITIONS } from '../../../../src/core/files/partition.ts'
import { unavailable } from '../../../../src/core/problem.ts'
import { rejection } from '../../../support/rejection.ts'

/** A process whose clock and whose Redis the test controls. */
function opened() {
  const state = {
    now: 5000,
    /** What Redis answers. Undefined: it is down. */
    stored: '1' as string | undefined,
    /** What the connection throws instead. */
    failure: undefined as Error | undefined,
    /** What the next answers wait for. */
    held: Promise.resolve(),
  }
  const redis = {
    async send() {
      if (state.failure) throw state.failure
      if (state.stored === undefined) throw unavailable('It is lost.')
      const { stored, held } = state
      await held
      return stored
    },
  } as unknown as RedisConnection
  const keyspaces = Array.from({ length: PARTITIONS }, () => ({ redis, keyPrefix: '{a}:' }))
  const divisions = redisDivisions(keyspaces, { perClient: 1, trustMs: 1000, now: () => state.now })
  return { state, of: () => divisions.trusted('one'), read: () => divisions.read('one') }
}

describe('the division of a client', () => {
  it('is the number, or the numbers before and after a move, with its epoch', async () => {
    const { state, read } = opened()
    for (const [text, division] of [
      ['64', { from: 64, to: 64, epoch: 0 }],
      ['1>64@1', { from: 1, to: 64, epoch: 1 }],
      ['64@12', { from: 64, to: 64, epoch: 12 }],
    ] as const) {
      state.stored = text
      expect(await read()).to.deep.equal(division)
      expect(textOf(division)).to.equal(text)
    }
  })

  it('is trusted for a second, and is then read again', async () => {
    const { state, of, read } = opened()
    expect((await of()).epoch).to.equal(0)
    state.stored = '1>64@1'
    state.now += 999
    expect((await of()).epoch).to.equal(0)
    state.now += 2
    expect((await of()).epoch).to.equal(1)
    state.stored = '64@2'
    expect((await read()).epoch).to.equal(2)
    expect((await of()).epoch).to.equal(2)
  })

  it('is returned to those who wait for it while another request reads and stores it', async () => {
    const { state, of, read } = opened()
    await of()
    state.now += 1001
    let release = () => {}
    state.held = new Promise((resolve) => {
      release = resolve
    })
    const waiting = [of(), of()]
    state.held = Promise.resolve()
    state.stored = '1>64@1'
    expect((await read()).epoch).to.equal(1)
    release()
    expect((await Promise.all(waiting)).map(({ epoch }) => epoch)).to.deep.equal([0, 0])
    // The late answer does not replace the newer one.
    expect((await of()).epoch).to.equal(1)
  })

  it('is the last known one while its node is down, and unknown to a process that has read none', async () => {
    const { state, of } = opened()
    state.stored = '64'
    expect((await of()).to).to.equal(64)
    state.now += 60_000
    state.stored = undefined
    expect((await of()).to).to.equal(64)
    const other = opened()
    other.state.stored = undefined
    expect(await rejection(other.of())).to.include({ status: 503 })
  })

  it('is refused when it is of a later version, also where an older one is known', async () => {
    const { state, of } = opened()
    expect((await of()).to).to.equal(1)
    state.now += 1001
    state.stored = '64 by folder'
    expect(String(await rejection(of()))).to.include('received "64 by folder"')
  })

  it('is not the last known one when the read fails for another reason than its node', async () => {
    const { state, of } = opened()
    await of()
    state.now += 1001
    state.failure = new TypeError('a defect')
    expect(await rejection(of())).to.equal(state.failure)
  })
})
