import { expect } from 'chai'
import { type AuditStore, isEntryId, REFUSED_SIGN_IN } from '../../src/core/ports/audit-log.ts'

export interface OpenedAuditStore {
  store: AuditStore
  /** The same log as another process sees it; where there is only one process, `store` itself. */
  elsewhere: AuditStore
  close(): Promise<void>
}

const ANN = { id: 'ann', name: 'Ann' }
const BOB = { id: 'bob', name: 'Bob' }

/** What every {@link AuditStore} has to do, seen through the port alone. @param open an empty log with at most this many entries and refused sign-ins */
export function auditStoreContract(
  name: string,
  open: (most: number, mostRefused?: number) => Promise<OpenedAuditStore>,
): void {
  describe(`${name}: the contract of AuditStore`, () => {
    let opened: OpenedAuditStore
    beforeEach(async () => {
      opened = await open(1000)
    })
    afterEach(() => opened.close())

    const append = (target: string, more: object = {}) =>
      opened.store.append({
        at: Date.now(),
        member: ANN,
        address: '192.0.2.1',
        action: 'file.move',
        target,
        ...more,
      })
    const targetsOf = async (query: object = {}) =>
      (await opened.elsewhere.list({ limit: 1000, ...query })).map(({ target }) => target)

    it('returns entries as they were added, the latest first', async () => {
      expect(await targetsOf()).to.deep.equal([])
      const at = Date.now()
      const details = { text: 'ü"\n', count: 2, list: ['a'] }
      await append('1', { at, client: 'shop', details })
      await append('2', { member: null })
      const [second, first] = await opened.elsewhere.list({ limit: 10 })
      expect(first).to.deep.include({
        at,
        member: ANN,
        address: '192.0.2.1',
        action: 'file.move',
        target: '1',
        client: 'shop',
        details,
      })
      expect(second).to.include({ member: null, target: '2' }).and.not.to.have.property('client')
      for (const entry of [first, second]) expect(isEntryId(String(entry?.id))).to.equal(true)
    })

    it('filters by client and member', async () => {
      await append('1', { client: 'shop' })
      await append('2', { client: 'shop', member: BOB })
      await append('3', { member: BOB })
      await append('4', { member: null })
      expect(await targetsOf({ client: 'shop' })).to.deep.equal(['2', '1'])
      expect(await targetsOf({ member: 'bob' })).to.deep.equal(['3', '2'])
      expect(await targetsOf({ member: 'bob', client: 'shop' })).to.deep.equal(['2'])
      expect(await targetsOf({ member: 'nobody' })).to.deep.equal([])
    })

    it('has each entry once on its pages, also of more entries than are read at a time', async () => {
      const count = 450
      await Promise.all(
        Array.from({ length: count }, (_, i) =>
          append(String(i), { client: i % 3 === 0 ? 'shop' : 'other' }),
        ),
      )
      const seen: Array<string | undefined> = []
      for (let before: string | undefined; ; ) {
        const page = await opened.elsewhere.list({ limit: 40, client: 'shop', before })
        seen.push(...page.map(({ target }) => target))
        if (page.length < 40) break
        before = page.at(-1)?.id
        await append('newer', { client: 'shop' })
      }
      expect(seen).to.have.length(count / 3)
      expect(new Set(seen)).to.have.property('size', count / 3)
      for (const oldest of ['0-1', '0-0']) expect(await targetsOf({ before: oldest })).to.deep.equal([])
    })

    it('removes the oldest refused sign-ins before other entries', async () => {
      await opened.close()
      opened = await open(1000, 3)
      const refuse = (target: string) => append(target, { action: REFUSED_SIGN_IN, member: null })
      await append('first')
      for (const target of ['1', '2', '3', '4']) await refuse(target)
      await append('between')
      await refuse('5')
      expect(await targetsOf()).to.deep.equal(['5', 'between', '4', '3', 'first'])
      // The same after the entries themselves were removed as the oldest ones.
      await opened.close()
      opened = await open(10, 3)
      for (const target of ['1', '2', '3']) await refuse(target)
      for (let i = 0; i < 300; i += 1) await append(String(i))
      for (const target of ['a', 'b', 'c', 'd', 'e']) await refuse(target)
      expect((await targetsOf()).slice(0, 4)).to.deep.equal(['e', 'd', 'c', '299'])
    })

    it('removes the oldest entries', async () => {
      await opened.close()
      opened = await open(10)
      // Redis removes whole nodes of its stream, of a hundred entries.
      for (let i = 0; i < 300; i += 1) await append(String(i))
      const targets = await targetsOf()
      expect(targets.slice(0, 10)).to.deep.equal(Array.from({ length: 10 }, (_, i) => String(299 - i)))
      expect(targets.length).to.be.below(211)
    })
  })
}
