import { expect } from 'chai'
import { type ObjectKey, storedKey } from '../../../src/core/files/object-key.ts'
import type { FileIndex } from '../../../src/core/ports/file-index.ts'
import type { PageRequest } from '../../../src/core/ports/index/page-request.ts'
import { everyNth, sized } from '../../support/sized.ts'
import { AHEAD, NOW, newRef, record } from './file-index-states.ts'

// Names around those of media groups and formats, between which a folder has its own files.
const FOLDERS = [
  ...[
    '',
    'a',
    'application',
    'b',
    'image',
    'image/avif',
    'image/png',
    'image/png0',
    'image/zzz',
    'imagf',
    'zz',
  ],
  ...['a/b', 'a/image', 'a/image/png', 'a/image/png/image/png', 'a/zz', 'a!', 'a0', '日本', '日本/🎉'],
]
const BEGINNINGS = ['application/pdf', 'image/jpeg', 'image/png', 'video/mp4']
const EACH = 2

/** Keys in folders, and files that a list leaves out, of every `FileIndex`. */
export function folderKeysContract(
  opened: () => { index: FileIndex; elsewhere: FileIndex; isMerged?: true },
): void {
  describe('the keys of a folder', () => {
    let index: FileIndex
    let elsewhere: FileIndex
    let clientId: string
    let all: ObjectKey[]

    const folderOf = (key: string) => key.split('/').slice(0, -3).join('/')
    const newKey = (folder: string, beginning: string) =>
      storedKey(`${folder}${folder && '/'}${beginning}/${newRef().key.split('/').at(-1)}`)
    const inBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))

    before(async () => {
      index = opened().index
      elsewhere = opened().elsewhere
      clientId = newRef().clientId
      all = FOLDERS.flatMap((folder) =>
        BEGINNINGS.flatMap((beginning) => Array.from({ length: EACH }, () => newKey(folder, beginning))),
      ).sort(inBytes)
      await Promise.all(all.map((key) => index.adopt(clientId, record(key, 'a'))))
      const other = newRef()
      await index.adopt(other.clientId, record(newKey('a', 'image/png'), 'a'))
    })

    it('are complete and sorted, without those of subfolders, in parts of any size', async () => {
      const folders = [...FOLDERS, 'none', 'a/b/c']
      // Each of several partitions finds its keys as the only one does.
      for (const folder of opened().isMerged ? everyNth(3, folders) : folders)
        for (const direction of ['up', 'down'] as const)
          for (const limit of sized([direction === 'up' ? 100 : 3], [1, 3, 8, 100])) {
            const expected = all.filter((key) => folderOf(key) === folder)
            if (direction === 'down') expected.reverse()
            const found: string[] = []
            for (let after: string | undefined; ; ) {
              const keys = await elsewhere.directKeys(clientId, {
                ...{ state: 'stored', folder, direction, limit },
                ...(after === undefined ? {} : { after }),
              })
              found.push(...keys)
              // Only the last part is shorter.
              if (keys.length < limit) break
              after = keys.at(-1)
            }
            expect(found, `${folder} ${direction} by ${limit}`).to.deep.equal(expected)
          }
    })

    it('are those of one state, without deleted files', async () => {
      const [first, second] = [newKey('states', 'image/png'), newKey('states', 'image/png')]
      for (const key of [first, second]) await index.adopt(clientId, record(key, 'a'))
      await index.trash({ clientId, key: first }, { at: NOW, until: AHEAD })
      const keys = (state: 'stored' | 'trashed') =>
        elsewhere.directKeys(clientId, { state, folder: 'states', limit: 9 })
      expect([await keys('stored'), await keys('trashed')]).to.deep.equal([[second], [first]])
      for (const key of [first, second])
        await index.beginRemoval({ clientId, key }, { cause: 'purge', leaseUntil: AHEAD, now: NOW })
      expect([await keys('stored'), await keys('trashed')]).to.deep.equal([[], []])
    })

    it('continue after a key that is not in the folder, or was deleted', async () => {
      const inFolder = all.filter((key) => folderOf(key) === 'a')
      for (const direction of ['up', 'down'] as const)
        for (const after of ['', 'a', 'a/b/image/png/x', 'a/image/png/0', 'a/zz/video', 'a0', 'zzz']) {
          const expected = inFolder.filter((key) => inBytes(key, after) * (direction === 'up' ? 1 : -1) > 0)
          if (direction === 'down') expected.reverse()
          const keys = await elsewhere.directKeys(clientId, {
            ...{ state: 'stored', folder: 'a', direction, after, limit: 99 },
          })
          expect(keys, `${direction} after ${after}`).to.deep.equal(expected)
        }
    })

    it('decide which files a list leaves out, in every order and in parts of any size', async () => {
      const expected = all.filter((key) => folderOf(key) === 'a')
      for (const by of ['key', 'storedAt', 'sha256', 'name', 'size'] as const)
        for (const limit of sized([7], [1, 7, 1000])) {
          const request: PageRequest = {
            ...{ state: 'stored', by, limit },
            matches: (key) => folderOf(key) === 'a',
          }
          const found: string[] = []
          let parts = 0
          for (let after: string | undefined; parts === 0 || after !== undefined; parts += 1) {
            const page = await elsewhere.page(clientId, {
              ...request,
              ...(after === undefined ? {} : { after }),
            })
            found.push(...page.files.map((file) => file.record.key))
            after = page.next
          }
          expect(found.sort(inBytes), `${by} by ${limit}`).to.deep.equal(expected)
          if (!opened().isMerged)
            expect(parts, `${by} by ${limit}`).to.be.at.least(Math.floor(all.length / limit))
        }
    })
  })
}
