import { expect } from 'chai'
import type { FileRef } from '../../../src/core/files/file-ref.ts'
import { derivativeKey } from '../../../src/core/files/object-key.ts'
import type { FileIndex } from '../../../src/core/ports/file-index.ts'
import { AHEAD, adopted, NOW, newRef } from './file-index-states.ts'

/** What every {@link FileIndex} has to know of the use of derivatives; the random steps compare the rest. */
export function derivativeUsesContract(opened: () => { index: FileIndex; elsewhere: FileIndex }): void {
  describe('uses of derivatives', () => {
    let index: FileIndex
    let ref: FileRef
    beforeEach(async () => {
      index = opened().index
      ref = newRef()
      await adopted(index, ref)
    })

    const key = (name: string, { key: original } = ref) => derivativeKey(original, name)
    const store = (name: string, { at = NOW, isHeld = false, size = 10, of = ref } = {}) =>
      index.finishDerivative(of, { key: key(name, of), mediaType: 'image/webp', size }, { at, isHeld })
    const order = async (
      of: Parameters<FileIndex['leastUsed']>[0] = { clientId: ref.clientId },
      limit = 10,
    ) => (await opened().elsewhere.leastUsed(of, limit)).map((one) => one.key.slice(one.key.indexOf('_') + 1))

    it('are ordered by instant, with protected ones last, for a client and for one original', async () => {
      const other = newRef(ref.clientId)
      await adopted(index, other)
      await store('late', { at: NOW + 2 })
      await store('held', { at: NOW - 9, isHeld: true })
      await store('early', { at: NOW - 1 })
      await store('other', { of: other })
      expect(await order()).to.deep.equal(['early', 'other', 'late', 'held'])
      expect(await order(ref)).to.deep.equal(['early', 'late', 'held'])
      expect(await order(ref, 1)).to.deep.equal(['early'])
      expect(await index.derivedBytes(ref)).to.deep.equal({ client: 40, original: 30 })
    })

    it('move a used derivative to the end, and protect it permanently', async () => {
      for (const name of ['a', 'b', 'c']) await store(name)
      await index.noteUse(ref, key('a'), { at: NOW + 5, isHeld: false })
      await index.noteUse(ref, key('b'), { at: NOW - 5, isHeld: true })
      await index.noteUse(ref, key('b'), { at: NOW + 9, isHeld: false })
      expect(await order()).to.deep.equal(['c', 'a', 'b'])
      const [, , held] = await index.leastUsed(ref, 3)
      expect(held?.use).to.deep.equal({ at: NOW + 9, isHeld: true })
    })

    it('are not recorded for pending or unknown derivatives', async () => {
      await index.beginDerivative(ref, key('pending'), AHEAD)
      for (const name of ['pending', 'unknown'])
        await index.noteUse(ref, key(name), { at: NOW, isHeld: true })
      expect(await order()).to.deep.equal([])
      expect(await index.derivedBytes(ref)).to.deep.equal({ client: 0, original: 0 })
    })

    it('end with an eviction, which one of 20 callers begins and a sweep finds', async () => {
      await store('a')
      const begun = await Promise.all(
        Array.from({ length: 20 }, () => index.beginEviction(ref, key('a'), NOW)),
      )
      expect(begun.filter(Boolean)).to.have.length(1)
      expect(await index.derivedBytes(ref)).to.deep.equal({ client: 0, original: 0 })
      expect((await index.find(ref, key('a'))).derivative).to.deep.equal({ state: 'pending', deadline: NOW })
      const overdue = []
      for await (const item of index.overdue(NOW)) if (item.ref.key === ref.key) overdue.push(item)
      expect(overdue).to.deep.equal([{ kind: 'derivative', ref, derivative: key('a'), deadline: NOW }])
      await index.dropDerivative(ref, key('a'), NOW)
      expect((await index.find(ref, key('a'))).derivative).to.equal(undefined)
    })

    it('end with an eviction of a file in the trash, which is otherwise in the way of all others', async () => {
      await store('a')
      await index.trash(ref, { at: NOW, until: AHEAD })
      expect(await index.beginEviction(ref, key('a'), NOW)).to.equal(true)
      expect(await index.derivedBytes(ref)).to.deep.equal({ client: 0, original: 0 })
    })

    it('count each byte once during concurrent begins, ends and deletes', async () => {
      const other = newRef(ref.clientId)
      await adopted(index, other)
      const work = Array.from({ length: 60 }, async (_, i) => {
        const of = i % 2 ? ref : other
        const one = key(`w=${i % 7}`, of)
        await index.beginDerivative(of, one, AHEAD)
        await index.finishDerivative(
          of,
          { key: one, mediaType: 'image/webp', size: i },
          { at: i, isHeld: false },
        )
        if (i % 3 === 0) await index.beginEviction(of, one, AHEAD)
        if (i % 5 === 0) await index.noteUse(of, one, { at: NOW + i, isHeld: false })
      })
      await Promise.all(work)
      let bytes = 0
      for await (const { derivatives } of index.list(ref.clientId))
        for (const { entry } of derivatives) if (entry.state === 'stored') bytes += entry.record.size
      expect((await index.derivedBytes(ref)).client).to.equal(bytes)
      for (const of of [ref, other]) {
        await index.beginRemoval(of, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
        await index.finishRemoval(of, AHEAD + 1)
      }
      expect(await index.derivedBytes(ref)).to.deep.equal({ client: 0, original: 0 })
      expect(await order()).to.deep.equal([])
    })
  })
}
