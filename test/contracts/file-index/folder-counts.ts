import { expect } from 'chai'
import { type ObjectKey, storedKey } from '../../../src/core/files/object-key.ts'
import type { FileIndex, OriginalRecord } from '../../../src/core/ports/file-index.ts'
import type { CountedFolder, FolderCount } from '../../../src/core/ports/index/folder-counts.ts'
import type { ListedState } from '../../../src/core/ports/index/listed-state.ts'
import { AHEAD, NOW, newRef, record } from './file-index-states.ts'

/** Compares all counters of a client with those of the given originals. */
export async function compareFolders(
  index: FileIndex,
  clientId: string,
  listed: (state: ListedState) => ReadonlyArray<{ record: OriginalRecord }>,
): Promise<void> {
  for (const state of ['stored', 'trashed'] as const) {
    const records = listed(state).map((one) => one.record)
    for (const folder of ['', 'a', 'a/b', 'b'])
      expect(await index.folderCount(clientId, state, folder), `${state} ${folder}`).to.deep.equal(
        countOf(records, folder),
      )
  }
  const stored = listed('stored').map((one) => one.record)
  for (const [parent, folder] of [
    ['', 'a'],
    ['a', 'a/b'],
  ] as const) {
    const count = countOf(stored, folder)
    const { folders } = await index.subfolders(clientId, { parent, limit: 9 })
    expect(folders).to.deep.equal(count.files > 0 ? [{ folder, ...count }] : [])
  }
}

function countOf(records: readonly OriginalRecord[], folder: string): FolderCount {
  const folderOf = ({ key }: OriginalRecord) => key.split('/').slice(0, -3).join('/')
  const within = records.filter((one) => folder === '' || `${folderOf(one)}/`.startsWith(`${folder}/`))
  return {
    files: within.length,
    bytes: within.reduce((sum, { size }) => sum + size, 0),
    directFiles: within.filter((one) => folderOf(one) === folder).length,
  }
}

/** The folder counters of every `FileIndex`. */
export function folderCountsContract(opened: () => { index: FileIndex; elsewhere: FileIndex }): void {
  describe('folders', () => {
    let index: FileIndex
    let elsewhere: FileIndex
    let clientId: string

    beforeEach(() => {
      index = opened().index
      elsewhere = opened().elsewhere
      clientId = newRef().clientId
    })

    const keyIn = (folder: string): ObjectKey =>
      storedKey(`${folder}${folder && '/'}${newRef().key.split('/').slice(-3).join('/')}`)
    async function store(folder: string, size = 1): Promise<ObjectKey> {
      const key = keyIn(folder)
      await index.adopt(clientId, { ...record(key, 'a.png'), size })
      return key
    }
    async function below(parent: string, limit = 100): Promise<CountedFolder[]> {
      const all: CountedFolder[] = []
      for (let after: string | undefined; ; ) {
        const page = await elsewhere.subfolders(clientId, {
          parent,
          limit,
          ...(after === undefined ? {} : { after }),
        })
        expect(page.folders.length).to.be.at.most(limit)
        all.push(...page.folders)
        after = page.next
        if (after === undefined) return all
      }
    }

    it('count files and bytes, of the folder and of all its subfolders', async () => {
      await store('', 1)
      await store('photos', 10)
      await store('photos/2024', 100)
      await store('photos/2024/may', 1000)
      await store('photos2', 10_000)
      expect(await elsewhere.folderCount(clientId, 'stored', '')).to.deep.equal({
        ...{ files: 5, bytes: 11_111, directFiles: 1 },
      })
      expect(await below('')).to.deep.equal([
        { folder: 'photos', files: 3, bytes: 1110, directFiles: 1 },
        { folder: 'photos2', files: 1, bytes: 10_000, directFiles: 1 },
      ])
      expect(await below('photos')).to.deep.equal([
        { folder: 'photos/2024', files: 2, bytes: 1100, directFiles: 1 },
      ])
      expect(await below('none')).to.deep.equal([])
    })

    it('are listed in the order of the bytes of their names, in parts of any size', async () => {
      const names = ['a', 'a!', 'a0', 'b', 'image', '日本', '🎉', '\uFF5E']
      for (const name of names) await store(name)
      const inOrder = [...names].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
      for (const limit of [1, 2, 8, 100])
        expect(
          (await below('', limit)).map(({ folder }) => folder),
          `${limit}`,
        ).to.deep.equal(inOrder)
    })

    it('change with uploads, the trash, restores and deletes, and end with their last file', async () => {
      const ref = { clientId, key: keyIn('a/b') }
      const counts = async () =>
        (
          await Promise.all(
            (['stored', 'trashed'] as const).map((state) => elsewhere.folderCount(clientId, state, 'a')),
          )
        )
          .map(({ files, bytes }) => `${files} ${bytes}`)
          .join(', ')
      await index.beginUpload(ref, AHEAD)
      expect(await counts()).to.equal('0 0, 0 0')
      const stored = { ...record(ref.key, 'x'), size: 7 }
      for (const _ of [1, 2]) await index.finishUpload(clientId, [stored])
      expect(await counts()).to.equal('1 7, 0 0')
      await index.amend(clientId, stored, { ...stored, originalName: 'y' })
      expect(await counts()).to.equal('1 7, 0 0')
      await index.trash(ref, { at: NOW, until: AHEAD })
      expect(await counts()).to.equal('0 0, 1 7')
      expect(await below('')).to.deep.equal([])
      await index.restore(ref, NOW)
      expect(await counts()).to.equal('1 7, 0 0')
      await index.beginRemoval(ref, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
      expect(await counts()).to.equal('0 0, 0 0')
      expect(await below('a')).to.deep.equal([])
    })

    it('count 60 concurrent uploads and deletes of one folder exactly', async () => {
      const keys = Array.from({ length: 60 }, () => keyIn('busy'))
      await Promise.all(
        keys.map((key, i) => (i % 2 ? index : elsewhere).adopt(clientId, { ...record(key, 'x'), size: 3 })),
      )
      const remove = { cause: 'delete', leaseUntil: AHEAD, now: NOW } as const
      await Promise.all([
        ...keys.slice(20).map((key) => index.beginRemoval({ clientId, key }, remove)),
        elsewhere.recount(clientId, { repair: true }),
        ...Array.from({ length: 10 }, () => store('busy', 3)),
      ])
      expect(await elsewhere.folderCount(clientId, 'stored', 'busy')).to.deep.equal({
        ...{ files: 30, bytes: 90, directFiles: 30 },
      })
      expect(await index.recount(clientId, { repair: false })).to.deep.equal([])
    })

    it('are recounted one recount after the other, and a recount can be aborted', async () => {
      await store('a')
      const all = await Promise.all(
        [index, elsewhere, index].map((one) => one.recount(clientId, { repair: true })),
      )
      expect(all).to.deep.equal([[], [], []])
      const signal = AbortSignal.abort(new Error('stopped'))
      const failure = await index.recount(clientId, { repair: true, signal }).catch((error) => error)
      expect(failure).to.have.property('message', 'stopped')
      expect(await index.recount(clientId, { repair: false })).to.deep.equal([])
    })

    it('are complete when the index was marked as complete', async () => {
      await index.markComplete()
      expect(await elsewhere.isCounted()).to.equal(true)
    })
  })
}
