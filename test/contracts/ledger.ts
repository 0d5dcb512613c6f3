import { expect } from 'chai'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import { eventually } from '../support/eventually.ts'

export interface OpenedLedger {
  ledger: Ledger
  /** The same as another process sees it; where there is only one process, `ledger` itself. */
  elsewhere: Ledger
  close(): Promise<void>
}

/** What every {@link Ledger} has to do, seen through the port alone. */
export function ledgerContract(name: string, open: () => Promise<OpenedLedger>): void {
  describe(`${name}: the contract of Ledger`, () => {
    let opened: OpenedLedger
    let ledger: Ledger
    let elsewhere: Ledger
    let one: string
    before(async () => {
      opened = await open()
      ledger = opened.ledger
      elsewhere = opened.elsewhere
    })
    after(() => opened.close())
    beforeEach(() => {
      one = `name ${Math.random()}`
    })

    const later = { forgetAt: Date.now() + 600_000 }

    it('returns nothing for an unknown key', async () => {
      expect(await ledger.find(one)).to.equal(undefined)
    })

    it('stores a text under a free key, and replaces it, for all processes', async () => {
      for (const [before, after] of [
        [undefined, 'a'],
        ['a', ''],
        ['', 'ü \0 "n"'],
        ['ü \0 "n"', 'n'],
        ['n', undefined],
        [undefined, 'b'],
      ] as const) {
        expect(await ledger.replace(one, before, after, later)).to.equal(true)
        expect(await elsewhere.find(one)).to.equal(after)
      }
    })

    it('changes nothing when the current text is another one', async () => {
      expect(await ledger.replace(one, 'a', 'b', later)).to.equal(false)
      expect(await ledger.find(one)).to.equal(undefined)
      await ledger.replace(one, undefined, 'c', later)
      for (const before of [undefined, 'a', 'C', 'c '])
        expect(await elsewhere.replace(one, before, 'b', later), String(before)).to.equal(false)
      expect(await ledger.replace(one, undefined, undefined, later)).to.equal(false)
      expect(await ledger.find(one)).to.equal('c')
    })

    it('accepts one of many concurrent writes', async () => {
      const won = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          (i % 2 ? ledger : elsewhere).replace(one, undefined, String(i), later),
        ),
      )
      expect(won.filter(Boolean)).to.have.length(1)
      expect(await ledger.find(one)).to.equal(String(won.indexOf(true)))
    })

    it('forgets an expired text', async () => {
      await ledger.replace(one, undefined, 'a', { forgetAt: Date.now() + 200 })
      await eventually(async () => expect(await ledger.find(one)).to.equal(undefined))
      expect(await elsewhere.replace(one, undefined, 'b', later)).to.equal(true)
    })
  })
}
