import { expect } from 'chai'
import type { FileRef } from '../../../src/core/files/file-ref.ts'
import type { FileIndex, OriginalRecord } from '../../../src/core/ports/file-index.ts'
import type { SearchTerm } from '../../../src/core/ports/index/file-search.ts'
import { folded } from '../../../src/core/text/folded.ts'
import { sized } from '../../support/sized.ts'
import { AHEAD, NOW, newRef, record } from './file-index-states.ts'

/** Compares what a client's search finds with the given originals, for parts of their names and for their tags. */
export async function compareSearch(
  index: FileIndex,
  clientId: string,
  records: readonly OriginalRecord[],
): Promise<void> {
  for (const text of ['nu', 'umber', 'r 3', '"um', '\\um', '\tum', '\tu', 'number 5.png', '.png', 'none'])
    await expectMatches(index, { clientId, term: { name: text }, records })
  for (const tag of ['odd', 'od']) await expectMatches(index, { clientId, term: { tag }, records })
  for (const one of records) expect(await index.isSearchable(clientId, one)).to.equal(true)
}

/** Checks that a search finds all of these records that match, and nothing that is not among these records. */
async function expectMatches(
  index: FileIndex,
  { clientId, term, records }: { clientId: string; term: SearchTerm; records: readonly OriginalRecord[] },
): Promise<void> {
  const keys = await index.search(clientId, term, { most: 1000 })
  if ('name' in term && term.name.length < 3 && keys === undefined) return
  const matching = records.filter((one) =>
    'tag' in term ? one.tags?.includes(term.tag) : folded(one.originalName).includes(term.name),
  )
  const story = `${JSON.stringify(term)} finds ${keys?.join(', ') ?? 'too many'}`
  expect(keys ?? [], story).to.include.members(matching.map(({ key }) => key))
  expect(
    records.map(({ key }) => key),
    story,
  ).to.include.members(keys ?? ['too many'])
  expect(new Set(keys).size, story).to.equal(keys?.length)
  // Parts of a text may be in a name that does not contain it.
  if ('tag' in term || term.name.length <= 3) expect(keys, story).to.have.length(matching.length)
}

/** What a search finds. */
async function found(index: FileIndex, clientId: string, term: SearchTerm): Promise<string[]> {
  return [...((await index.search(clientId, term, { most: 1000 })) ?? ['too many'])].sort()
}

/** The search of every `FileIndex`. */
export function fileSearchContract(
  opened: () => { index: FileIndex; elsewhere: FileIndex; isMerged?: true },
): void {
  describe('search', () => {
    let index: FileIndex
    let elsewhere: FileIndex
    let clientId: string

    beforeEach(() => {
      index = opened().index
      elsewhere = opened().elsewhere
      clientId = newRef().clientId
    })

    async function store(originalName: string, tags?: string[]): Promise<OriginalRecord> {
      const stored = { ...record(newRef().key, originalName), ...(tags ? { tags } : {}) }
      await index.adopt(clientId, stored)
      return stored
    }
    const names = async (text: string) => found(elsewhere, clientId, { name: folded(text) })
    const tagged = async (tag: string) => found(elsewhere, clientId, { tag })

    it('finds a name by each part of it, of three characters or more, without its case', async () => {
      for (const name of [
        'Holiday Größe.JPG',
        'cafe\u0301 ΟΔΟΣ.png',
        '日本🎉.gif',
        '\u0000 NUL 🎉🎉 and [%w] (.-).png',
        'two\nlines',
        `${'long '.repeat(20)}End.txt`,
        'a',
      ]) {
        const { key } = await store(name)
        const characters = [...folded(name).replaceAll('\n', ' ')]
        // Parts of three characters that overlap; a long name repeats itself, and each of several partitions has the same search.
        const step = sized(characters.length > 40 ? 9 : opened().isMerged ? 5 : 2, 1)
        for (let from = 0; from < characters.length; from += step)
          for (const length of sized([3, 33], [3, 4, 31, 32, 33, 200])) {
            const part = characters.slice(from, from + length).join('')
            if ([...part].length > 2) expect(await names(part), `${part} in ${name}`).to.include(key)
          }
      }
      expect(await names('holidays')).to.deep.equal([])
      expect(await names('hol')).to.have.length(1)
      expect(await names('hOL')).to.have.length(1)
    })

    it('finds a tag as a whole, and no name by it', async () => {
      const { key } = await store('a.png', ['red', 'Größe 日本🎉'])
      await store('red.png', ['redder', 're'])
      await store('untagged.png')
      expect(await tagged('red')).to.deep.equal([key])
      expect(await tagged('Größe 日本🎉')).to.deep.equal([key])
      for (const tag of ['Red', 'ed', 'untagged.png', 'größe 日本🎉'])
        expect(await tagged(tag), tag).to.deep.equal([])
    })

    it('finds a name once that has the text more than once, and no client by the files of another', async () => {
      const { key } = await store('banana')
      const other = newRef()
      await index.adopt(other.clientId, record(other.key, 'banana'))
      expect(await names('ana')).to.deep.equal([key])
    })

    it('returns nothing when more than the maximum of terms must be compared, or for one byte', async () => {
      for (const name of ['xyzxyz', 'xyz', 'y']) await store(name, ['t'])
      expect(await elsewhere.search(clientId, { name: 'xyz' }, { most: 1 })).to.equal(undefined)
      expect(await elsewhere.search(clientId, { name: 'xyz' }, { most: 2 })).to.have.length(2)
      expect(await elsewhere.search(clientId, { name: 'x' }, { most: 9 })).to.equal(undefined)
      expect(await elsewhere.search(clientId, { tag: 't' }, { most: 2 })).to.equal(undefined)
      expect(await elsewhere.search(clientId, { tag: 't' }, { most: 3 })).to.have.length(3)
    })

    it('finds a name of fewer than three characters, or needs a list for it', async () => {
      const records = [await store('ab'), await store('é'), await store('日'), await store('cab.png')]
      for (const name of ['ab', 'é', 'é.', '日'])
        await expectMatches(elsewhere, { clientId, term: { name }, records })
    })

    it('changes with uploads, new names and tags, and deletes, and has the trash', async () => {
      const ref: FileRef = { ...newRef(), clientId }
      const first = { ...record(ref.key, 'First.png'), tags: ['one', 'both'] }
      const second = { ...record(ref.key, 'sEcond.png'), tags: ['two', 'both'] }
      const all = async () =>
        (
          await Promise.all([
            names('first'),
            names('second'),
            names('.png'),
            ...['one', 'two', 'both'].map(tagged),
          ])
        )
          .map(({ length }) => length)
          .join('')
      await index.beginUpload(ref, AHEAD)
      expect(await all()).to.equal('000000')
      for (const _ of [1, 2]) await index.finishUpload(clientId, [first])
      expect(await all()).to.equal('101101')
      expect(await index.amend(clientId, second, first)).to.equal(false)
      await index.amend(clientId, first, second)
      expect(await all()).to.equal('011011')
      await index.adopt(clientId, first)
      expect(await all()).to.equal('011011')
      await index.trash(ref, { at: NOW, until: AHEAD })
      expect(await all()).to.equal('011011')
      await index.restore(ref, NOW)
      expect(await all()).to.equal('011011')
      expect([
        await index.isSearchable(clientId, second),
        await index.isSearchable(clientId, first),
      ]).to.deep.equal([true, false])
      await index.beginRemoval(ref, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
      expect(await all()).to.equal('000000')
      await index.finishRemoval(ref, NOW)
      await index.adopt(clientId, first, { at: NOW, until: AHEAD })
      expect(await all()).to.equal('101101')
      await index.beginRemoval(ref, { cause: 'purge', leaseUntil: AHEAD, now: NOW })
      expect(await all()).to.equal('000000')
    })

    it('is exact after 60 concurrent uploads, new names and deletes', async () => {
      const refs = Array.from({ length: 20 }, () => ({ ...newRef(), clientId }))
      const named = (ref: FileRef, name: string) => record(ref.key, name)
      await Promise.all(
        refs.flatMap((ref, i) => [
          (i % 2 ? index : elsewhere).adopt(clientId, named(ref, 'old')),
          elsewhere.amend(clientId, named(ref, 'old'), named(ref, 'new')),
          ...(i < 10 ? [index.beginRemoval(ref, { cause: 'delete', leaseUntil: AHEAD, now: NOW })] : []),
        ]),
      )
      const expected: Record<string, string[]> = { old: [], new: [] }
      for (const ref of refs) {
        const { original } = await index.find(ref)
        if (original?.state === 'stored') expected[original.record.originalName]?.push(ref.key)
      }
      for (const [name, keys] of Object.entries(expected))
        expect(await names(name), name).to.deep.equal(keys.sort())
    })

    it('picks originals in one state, with their positions in a list', async () => {
      const records = [await store('b'), await store('a'), await store('c')]
      const keys = records.map(({ key }) => key)
      const trashed = { clientId, key: keys[0] ?? newRef().key }
      await index.trash(trashed, { at: NOW, until: AHEAD })
      const unknown = newRef().key
      for (const state of ['stored', 'trashed'] as const)
        for (const by of ['key', 'storedAt', 'sha256', 'name', 'size'] as const) {
          const { files } = await index.page(clientId, { state, by, limit: 9 })
          const picked = await elsewhere.pick(clientId, { state, by, keys: [...keys, unknown] })
          expect(picked, `${state} by ${by}`).to.have.deep.members([...files])
        }
      expect(await elsewhere.pick(clientId, { state: 'stored', by: 'key', keys: [] })).to.deep.equal([])
    })

    it('is complete when the index was marked as complete', async () => {
      await index.markComplete()
      expect(await elsewhere.canSearch()).to.equal(true)
    })
  })
}
