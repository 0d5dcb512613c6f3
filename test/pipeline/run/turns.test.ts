import { setMaxListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import type { Caller } from '../../../src/core/clients/caller.ts'
import { type AdmissionLimits, createAdmission } from '../../../src/pipeline/run/admission.ts'
import type { Spent } from '../../../src/pipeline/run/spending.ts'
import { rejection } from '../../support/rejection.ts'
import { roomFor } from '../../support/requests/callers.ts'

const stranger = (host: number): Caller => ({ address: `127.0.0.${host}`, isTrusted: false })
const trusted = (host: number): Caller => ({ address: `127.0.0.${host}`, isTrusted: true })

const settle = async () => {
  for (let i = 0; i < 5; i += 1) await setImmediate()
}

/** An admission with one place and its own clock, and works that end when the test ends them. */
function turns(limits: Partial<AdmissionLimits> = {}) {
  let clock = 0
  const begun: string[] = []
  const ends = new Map<string, (cpuMs?: number) => void>()
  const admit = createAdmission(
    { atOnce: 1, waiting: roomFor(100), waitMs: 60_000, heavyFrom: 1e9, heavyBytes: 1e9, ...limits },
    { now: () => clock },
  )
  const { signal } = new AbortController()
  setMaxListeners(0, signal)
  const ask = (name: string, clientId: string, caller: Caller, signalOf = signal) => {
    const work = (spent: Spent) =>
      new Promise<void>((resolve) => {
        begun.push(name)
        ends.set(name, (cpuMs) => {
          if (cpuMs !== undefined) spent(cpuMs)
          resolve()
        })
      })
    return admit(work, { clientId, caller, bytes: 0, signal: signalOf })
  }
  /** Ends the one that runs, after so many milliseconds in its slot. @param cpuMs measured; undefined: nothing was */
  const end = async (slotMs = 1000, cpuMs?: number) => {
    await settle()
    clock += slotMs
    ends.get(begun.at(-1) ?? '')?.(cpuMs)
    await settle()
  }
  return { admit, ask, begun, end }
}

describe('turns', () => {
  it('alternate between clients, however much work waits for one of them', async () => {
    const { ask, begun, end } = turns()
    const all = [1, 2, 3, 4, 5, 6].map((i) => ask(`b${i}`, 'b', stranger(1)))
    all.push(...[1, 2, 3].map((i) => ask(`a${i}`, 'a', stranger(1))))
    for (let i = 0; i < 9; i += 1) await end()
    await Promise.all(all)
    expect(begun).to.deep.equal(['b1', 'a1', 'b2', 'a2', 'b3', 'a3', 'b4', 'b5', 'b6'])
  })

  it('alternate between addresses within a client', async () => {
    const { ask, begun, end } = turns()
    const all = [1, 2, 3].map((i) => ask(`one${i}`, 'a', stranger(1)))
    all.push(...[1, 2].map((i) => ask(`two${i}`, 'a', stranger(2))))
    for (let i = 0; i < 5; i += 1) await end()
    await Promise.all(all)
    expect(begun).to.deep.equal(['one1', 'two1', 'one2', 'two2', 'one3'])
  })

  it('alternate between clients, however many addresses one of them has', async () => {
    const { ask, begun, end } = turns()
    const all = [1, 2, 3].map((i) => ask(`b${i}`, 'b', stranger(i)))
    all.push(...[1, 2, 3].map((i) => ask(`a${i}`, 'a', stranger(4))))
    for (let i = 0; i < 6; i += 1) await end()
    await Promise.all(all)
    expect(begun).to.deep.equal(['b1', 'a1', 'b2', 'a2', 'b3', 'a3'])
  })

  it('are not saved up by an idle caller', async () => {
    const { ask, begun, end } = turns()
    const all = Array.from({ length: 10 }, (_, i) => ask(`b${i}`, 'b', stranger(1)))
    for (let i = 0; i < 6; i += 1) await end()
    all.push(...[0, 1, 2].map((i) => ask(`a${i}`, 'a', stranger(2))))
    for (let i = 0; i < 7; i += 1) await end()
    await Promise.all(all)
    expect(begun.slice(6)).to.deep.equal(['b6', 'a0', 'b7', 'a1', 'b8', 'a2', 'b9'])
  })

  it('cost the measured CPU time, however long the work had its slot', async () => {
    const { ask, begun, end } = turns()
    const all = [1, 2].map((i) => ask(`costly${i}`, 'b', stranger(1)))
    all.push(...[1, 2, 3, 4].map((i) => ask(`long${i}`, 'a', stranger(1))))
    for (let i = 0; i < 6; i += 1)
      await (begun.length === 0 || begun.at(-1)?.startsWith('costly') ? end(3000, 3000) : end(9000, 1000))
    await Promise.all(all)
    expect(begun).to.deep.equal(['costly1', 'long1', 'long2', 'long3', 'costly2', 'long4'])
  })

  it('cost at least a tenth of the time in the slot, so that sleeping work is not always next', async () => {
    const { ask, begun, end } = turns()
    const all = [ask('first', 'c', stranger(3))]
    for (const name of ['asleep1', 'asleep2', 'asleep3']) all.push(ask(name, 'b', stranger(1)))
    for (const name of ['busy1', 'busy2', 'busy3']) all.push(ask(name, 'a', stranger(2)))
    await end(0, 0)
    for (let i = 0; i < 6; i += 1)
      await (begun.at(-1)?.startsWith('asleep') ? end(10_000, 1) : end(1000, 1000))
    await Promise.all(all)
    expect(begun.slice(1)).to.deep.equal(['asleep1', 'busy1', 'asleep2', 'busy2', 'asleep3', 'busy3'])
  })

  it('cost the time in the slot when nothing was measured', async () => {
    const { ask, begun, end } = turns()
    const all = [1, 2].map((i) => ask(`long${i}`, 'b', stranger(1)))
    all.push(...[1, 2, 3, 4].map((i) => ask(`short${i}`, 'a', stranger(1))))
    await end(3000)
    for (let i = 0; i < 5; i += 1) await end(begun.at(-1)?.startsWith('long') ? 3000 : 1000)
    await Promise.all(all)
    expect(begun).to.deep.equal(['long1', 'short1', 'short2', 'short3', 'long2', 'short4'])
  })

  it('still have their costs when a caller leaves and returns', async () => {
    const { ask, begun, end } = turns()
    const all = [ask('b1', 'b', stranger(1))]
    await end(3000)
    all.push(ask('c1', 'c', stranger(1)), ask('b2', 'b', stranger(1)), ask('a1', 'a', stranger(1)))
    for (let i = 0; i < 3; i += 1) await end()
    await Promise.all(all)
    expect(begun).to.deep.equal(['b1', 'c1', 'a1', 'b2'])
  })

  it('alternate between callers with and without a secret while both wait', async () => {
    const { ask, begun, end } = turns()
    const all = [1, 2, 3, 4].map((i) => ask(`s${i}`, `client ${i}`, stranger(i)))
    all.push(...[1, 2].map((i) => ask(`t${i}`, 'a', trusted(1))))
    for (let i = 0; i < 6; i += 1) await end(5000)
    await Promise.all(all)
    expect(begun).to.deep.equal(['s1', 't1', 's2', 't2', 's3', 's4'])
  })

  it('have a limited number of waiting places per address, per client, and for callers without a secret', async () => {
    const waiting = { atMost: 6, anonymous: 4, perClient: 3, perAddress: 2 }
    const { ask, end } = turns({ waiting })
    const all = [ask('running', 'a', stranger(1))]
    const refused = async (clientId: string, caller: Caller) => {
      const problem = await rejection(ask('refused', clientId, caller))
      expect(problem).to.include({ status: 503 })
      expect(problem).to.have.property('headers').that.includes({ 'Retry-After': '5' })
    }
    for (const i of [1, 2]) all.push(ask(`one${i}`, 'a', stranger(1)))
    await refused('a', stranger(1))
    await refused('b', stranger(1))
    all.push(ask('two', 'a', stranger(2)))
    await refused('a', stranger(3))
    all.push(ask('three', 'b', stranger(3)))
    await refused('c', stranger(4))
    for (const i of [1, 2]) all.push(ask(`t${i}`, 'a', trusted(1)))
    await refused('c', trusted(4))
    for (let i = 0; i < 7; i += 1) await end()
    await Promise.all(all)
  })

  it('that do not come in time are a 503, and the place is free at once', async () => {
    const { admit, ask, end } = turns({ waitMs: 20, waiting: roomFor(1) })
    const first = ask('first', 'a', stranger(1))
    const late = await rejection(ask('late', 'a', stranger(1)))
    expect(late).to.include({ status: 503, code: 'unavailable' })
    expect(admit.load()).to.deep.equal({ running: 1, waiting: 0 })
    await end()
    await first
  })
})
