import { setMaxListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import type { Caller } from '../../../src/core/clients/caller.ts'
import { createAdmission } from '../../../src/pipeline/run/admission.ts'
import { roomFor } from '../../support/requests/callers.ts'

const stranger = (host: number): Caller => ({ address: `127.0.0.${host}`, isTrusted: false })
const owner: Caller = { address: '127.0.0.9', isTrusted: true }

const settle = async () => {
  for (let i = 0; i < 5; i += 1) await setImmediate()
}

/** An admission of this number of slots, and works that end when the test ends them. */
function slots(atOnce: number) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const all: Promise<void>[] = []
  const { signal } = new AbortController()
  setMaxListeners(0, signal)
  const admit = createAdmission({
    atOnce,
    waiting: roomFor(100),
    waitMs: 60_000,
    heavyFrom: 100,
    heavyBytes: 1e9,
  })
  return {
    begun,
    /** Several at once. */
    async ask(names: readonly string[], caller: Caller, { bytes = 1, clientId = 'a' } = {}) {
      for (const name of names)
        all.push(
          admit(
            () =>
              new Promise<void>((resolve) => {
                begun.push(name)
                ends.set(name, resolve)
              }),
            { clientId, caller, bytes, signal },
          ),
        )
      await settle()
    },
    async end(name: string) {
      ends.get(name)?.()
      await settle()
    },
    async endAll() {
      for (let i = 0; i < all.length; i += 1) {
        for (const end of ends.values()) end()
        await settle()
      }
      await Promise.all(all)
      expect(admit.load()).to.deep.equal({ running: 0, waiting: 0 })
    },
  }
}

const HEAVY = { bytes: 101 }

describe('slots', () => {
  for (const [atOnce, ofAddress, ofHeavy] of [
    [1, 1, 1],
    [2, 1, 1],
    [3, 2, 1],
    [4, 2, 1],
    [5, 3, 2],
  ] as const)
    it(`are limited to ${ofAddress} of ${atOnce} for one untrusted address, ${ofHeavy} of them heavy`, async () => {
      const light = slots(atOnce)
      await light.ask(['1', '2', '3', '4', '5'], stranger(1))
      expect(light.begun).to.have.length(ofAddress)
      await light.endAll()
      expect(light.begun, 'all of them, in their order').to.deep.equal(['1', '2', '3', '4', '5'])
      const heavy = slots(atOnce)
      await heavy.ask(['1', '2', '3', '4', '5'], stranger(1), HEAVY)
      expect(heavy.begun).to.have.length(ofHeavy)
      await heavy.endAll()
    })

  it('are free for a new caller, which starts while all other work takes long', async () => {
    for (const atOnce of [2, 3, 4, 5]) {
      const { ask, begun, endAll } = slots(atOnce)
      await ask(['1', '2', '3', '4'], stranger(1), HEAVY)
      await ask(['5', '6', '7', '8'], stranger(1))
      await ask(['newcomer'], stranger(2), { clientId: 'b' })
      expect(begun.at(-1)).to.equal('newcomer')
      await endAll()
    }
  })

  it('are free for heavy work of another address, from three slots on', async () => {
    const { ask, begun, endAll } = slots(3)
    await ask(['1', '2', '3', '4'], stranger(1), HEAVY)
    await ask(['newcomer'], stranger(2), HEAVY)
    expect(begun).to.deep.equal(['1', 'newcomer'])
    await endAll()
  })

  it('are counted by address, for all clients together', async () => {
    const { ask, begun, endAll } = slots(2)
    await ask(['1'], stranger(1), { clientId: 'a' })
    await ask(['2'], stranger(1), { clientId: 'b' })
    await ask(['3'], stranger(2), { clientId: 'b' })
    expect(begun).to.deep.equal(['1', '3'])
    await endAll()
  })

  it('may all be used by trusted callers', async () => {
    const { ask, begun, endAll } = slots(3)
    await ask(['1', '2', '3', '4'], owner)
    expect(begun).to.have.length(3)
    await endAll()
  })

  it('are available to untrusted callers except for one, from four slots on', async () => {
    const { ask, begun, endAll } = slots(4)
    for (const i of [1, 2, 3, 4]) await ask([`stranger ${i}`], stranger(i))
    expect(begun).to.have.length(3)
    await ask(['owner'], owner)
    expect(begun.at(-1)).to.equal('owner')
    await endAll()
    const few = slots(3)
    for (const i of [1, 2, 3, 4]) await few.ask([`stranger ${i}`], stranger(i))
    expect(few.begun).to.have.length(3)
    await few.endAll()
  })

  it('are given to the next caller below its limit when they become free', async () => {
    const { ask, begun, end, endAll } = slots(2)
    await ask(['1', '2'], stranger(1))
    await ask(['3', '4'], stranger(2))
    expect(begun).to.deep.equal(['1', '3'])
    await end('3')
    expect(begun).to.deep.equal(['1', '3', '4'])
    await end('1')
    expect(begun).to.deep.equal(['1', '3', '4', '2'])
    await endAll()
  })
})
