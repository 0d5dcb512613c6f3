import { expect } from 'chai'
import type { FileRef } from '../../../src/core/files/file-ref.ts'
import { derivativeKey, type ObjectKey, storedKey } from '../../../src/core/files/object-key.ts'
import type { FileIndex, IndexedFile } from '../../../src/core/ports/file-index.ts'
import { everyNth } from '../../support/sized.ts'
import { AHEAD, derived, NOW, newRef, record } from './file-index-states.ts'

/** What every {@link FileIndex} has to know of the objects from which it has its records. */
export function recordTagsContract(opened: () => { index: FileIndex; elsewhere: FileIndex }): void {
  describe('tags of records', () => {
    let index: FileIndex
    let elsewhere: FileIndex
    let ref: FileRef
    beforeEach(() => {
      ;({ index, elsewhere } = opened())
      ref = newRef()
    })

    const tagOf = async (of = ref) => {
      const { original } = await elsewhere.find(of)
      return original && 'record' in original ? (original.recordTag ?? 'no tag') : 'no record'
    }
    const owned = () => ({
      ...record(ref.key, 'a "name", {and} more'),
      tags: ['"recordTag":"x",'],
      metadata: { a: 'b', recordTag: 'x' },
    })
    const stored = async (recordTag?: string) => {
      const original = owned()
      await index.adopt(ref.clientId, original, undefined, recordTag)
      return original
    }

    it('come with an upload, each with its own, and with an original that was found in the bucket', async () => {
      await index.beginUpload(ref, AHEAD)
      await index.finishUpload(ref.clientId, [owned()], new Map([[ref.key, 'one']]))
      expect(await elsewhere.find(ref)).to.deep.equal({
        original: { state: 'stored', record: owned(), recordTag: 'one' },
      })
      const other = newRef()
      const trash = { at: NOW, until: AHEAD }
      const entry = { state: 'trashed', record: record(other.key, 'b'), trash, recordTag: 'two' }
      expect(await index.adopt(other.clientId, record(other.key, 'b'), trash, 'two')).to.deep.equal(entry)
      expect(await elsewhere.find(other)).to.deep.equal({ original: entry })
    })

    it('are noted for the entry that they belong to, and not for another one', async () => {
      const original = await stored()
      const changed = { ...original, tags: ['new'] }
      expect(await index.noteRecordTag(ref.clientId, { state: 'stored', record: changed }, 'one')).to.equal(
        false,
      )
      const trash = { at: NOW, until: AHEAD }
      const trashed = { state: 'trashed', record: original, trash } as const
      expect(await index.noteRecordTag(ref.clientId, trashed, 'one')).to.equal(false)
      expect(await tagOf()).to.equal('no tag')
      for (const tag of ['one', 'two']) {
        expect(await index.noteRecordTag(ref.clientId, { state: 'stored', record: original }, tag)).to.equal(
          true,
        )
        expect(await elsewhere.find(ref)).to.deep.equal({
          original: { state: 'stored', record: original, recordTag: tag },
        })
      }
      await index.trash(ref, trash)
      expect(await index.noteRecordTag(ref.clientId, trashed, 'three')).to.equal(true)
      expect(await elsewhere.find(ref)).to.deep.equal({ original: { ...trashed, recordTag: 'three' } })
      const { key } = newRef()
      const unknown = { state: 'stored', record: record(key, 'a') } as const
      expect(await index.noteRecordTag(ref.clientId, unknown, 'one')).to.equal(false)
    })

    it('are forgotten with every change of what the bucket has, and only then', async () => {
      const original = await stored('one')
      const probed = { ...original, probe: '{}' }
      expect(await index.amend(ref.clientId, original, probed)).to.equal(true)
      expect(await tagOf()).to.equal('one')
      const named = { ...probed, tags: ['new'] }
      expect(await index.amend(ref.clientId, probed, named, 'two')).to.equal(true)
      expect(await tagOf()).to.equal('two')
      expect(await index.amend(ref.clientId, named, probed)).to.equal(true)
      expect(await elsewhere.find(ref)).to.deep.equal({ original: { state: 'stored', record: probed } })

      await index.noteRecordTag(ref.clientId, { state: 'stored', record: probed }, 'three')
      const trash = { at: NOW, until: AHEAD }
      await index.trash(ref, trash)
      expect(await elsewhere.find(ref)).to.deep.equal({
        original: { state: 'trashed', record: probed, trash },
      })
      await index.noteRecordTag(ref.clientId, { state: 'trashed', record: probed, trash }, 'four')
      await index.restore(ref, NOW)
      expect(await elsewhere.find(ref)).to.deep.equal({ original: { state: 'stored', record: probed } })
    })

    it('change no list, no counter and no search', async () => {
      const original = await stored()
      const page = () => index.page(ref.clientId, { state: 'stored', by: 'name', limit: 9 })
      const before = await page()
      await index.noteRecordTag(ref.clientId, { state: 'stored', record: original }, 'one')
      expect(await page()).to.deep.equal(before)
      expect((await index.totals(ref.clientId)).stored).to.deep.equal({ files: 1, bytes: original.size })
      expect(await index.recount(ref.clientId, { repair: false })).to.deep.equal([])
      expect(await index.isSearchable(ref.clientId, original)).to.equal(true)
      await index.beginRemoval(ref, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
      expect(await index.finishRemoval(ref, NOW)).to.equal(true)
      expect(await page()).to.deep.include({ files: [], next: undefined })
    })
  })

  describe('files between two keys', () => {
    // Emoji come after all other characters in UTF-8, but not in UTF-16.
    const FOLDERS = ['', 'a/', 'a-b/', 'é/', '\uff21/', '😀/']

    it('are stored and trashed ones in the order of the bytes, with derivatives and tags, in parts', async () => {
      const { index, elsewhere } = opened()
      const { clientId, key: sample } = newRef()
      const name = sample.slice(sample.lastIndexOf('/') + 1)
      const keys = FOLDERS.map((folder) => storedKey(`${folder}image/png/${name}`))
      const trash = { at: NOW, until: AHEAD }
      const expected: IndexedFile[] = []
      for (const [i, key] of keys.entries()) {
        const ref = { clientId, key }
        const original = record(key, 'a')
        await index.adopt(clientId, original, undefined, `tag ${i}`)
        const names = i % 2 ? ['w=1', 'w=2'] : []
        const derivatives = names.map((variant) => derived(derivativeKey(key, variant)))
        for (const one of derivatives) await index.adoptDerivative(ref, one)
        if (i === 3) await index.trash(ref, trash)
        expected.push({
          ref,
          original:
            i === 3
              ? { state: 'trashed', record: original, trash }
              : { state: 'stored', record: original, recordTag: `tag ${i}` },
          derivatives: derivatives.map((one) => ({ key: one.key, entry: { state: 'stored', record: one } })),
        })
      }
      // Those that are in no list, and those of another client.
      await index.beginUpload({ clientId, key: storedKey(`b/image/png/${name}`) }, AHEAD)
      const other = newRef()
      await index.adopt(other.clientId, record(other.key, 'a'))
      expected.sort((one, another) => Buffer.compare(Buffer.from(one.ref.key), Buffer.from(another.ref.key)))

      const read = async (after: string, upTo?: ObjectKey, limit = 2) => {
        const found: IndexedFile[] = []
        for (let from: string | undefined = after; from !== undefined; ) {
          const part = await elsewhere.filesBetween(clientId, { after: from, upTo, limit })
          expect(part.files.length).to.be.at.most(limit)
          found.push(...part.files.map((file) => ({ ...file, derivatives: byKey(file.derivatives) })))
          from = part.next
        }
        return found
      }
      expect(await read('')).to.deep.equal(expected)
      expect(await read('', undefined, 100)).to.deep.equal(expected)
      for (const [i, { ref: from }] of everyNth(2, [...expected.entries()])) {
        expect(await read(from.key)).to.deep.equal(expected.slice(i + 1))
        expect(await read('', from.key)).to.deep.equal(expected.slice(0, i + 1))
        // The bounds need not be keys of originals.
        expect(await read(derivativeKey(from.key, 'w=3'))).to.deep.equal(expected.slice(i + 1))
        expect(await read('', derivativeKey(from.key, 'w=3'))).to.deep.equal(expected.slice(0, i + 1))
      }
    })
  })
}

function byKey(derivatives: IndexedFile['derivatives']): IndexedFile['derivatives'] {
  return [...derivatives].sort((one, other) => (one.key < other.key ? -1 : 1))
}
