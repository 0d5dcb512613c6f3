import { expect } from 'chai'
import type { Client } from '../../../src/core/clients/client.ts'
import { newFileId, newOriginal } from '../../../src/core/files/object-key.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import type { Buckets } from '../../../src/core/ports/bucket.ts'
import type { FileIndex } from '../../../src/core/ports/file-index.ts'
import { NOTHING_COUNTED } from '../../../src/core/ports/index/folder-counts.ts'
import type { PageRequest } from '../../../src/core/ports/index/page-request.ts'
import { createList } from '../../../src/service/files/list.ts'
import type { ListRequest } from '../../../src/service/files/list-request.ts'

const CLIENT = { id: 'first' } as Client
const BUCKETS = { of: () => ({ urlOf: (key: string) => key }) } as unknown as Buckets
const REQUEST: ListRequest = {
  ...{ client: CLIENT, state: 'stored', by: 'storedAt', direction: 'down', folder: '', limit: 50 },
  signal: new AbortController().signal,
}

describe('a list whose filters match few files', () => {
  const { key } = newOriginal({ folder: '', format: knownFormat('png'), id: newFileId() })
  const record = { key, originalName: 'a.png', mediaType: 'image/png', size: 1, sha256: '', storedAt: 9 }

  /**
   * Requests a part of a list of 100,000 images.
   * @param factor how many entries the index reads for each one of the limit
   */
  async function part(request: Partial<ListRequest>, factor?: number) {
    let [keys, records] = [0, 0]
    const index = {
      isComplete: async () => true,
      isCounted: async () => true,
      isPosition: () => true,
      canSearch: async () => true,
      search: async () => undefined,
      folderCount: async () => ({ ...NOTHING_COUNTED, files: 100_000 }),
      async page(_: string, { after = '0', limit, matches = () => true }: PageRequest) {
        const next = Number(after) + limit
        const looked = limit * (factor ?? 1)
        keys += looked
        const files = matches(key) ? Array.from({ length: looked }, () => ({ position: after, record })) : []
        records += files.length
        return { files, next: next < 100_000 ? String(next) : undefined, ...(factor ? { looked } : {}) }
      },
    } as unknown as FileIndex
    const { files, next } = await createList({ index, buckets: BUCKETS })({ ...REQUEST, ...request })
    return { files, next, keys, records }
  }

  it('ends a part after about 30,000 keys, and the next one continues there', async () => {
    const first = await part({ group: 'video' })
    expect(first.keys).to.be.within(30_000, 32_499)
    expect(first).to.deep.include({ files: [], next: String(first.keys), records: 0 })
    expect(await part({ group: 'video', after: '95000' })).to.deep.include({ next: undefined })
  })

  it('ends a part after fewer keys when the index has read more entries than it returned', async () => {
    const { keys, next } = await part({ group: 'video' }, 2)
    expect(keys).to.be.within(30_000, 34_999)
    expect(next).to.equal(String(keys / 2))
  })

  it('ends a part after fewer records than keys, and more keys of a list that has them', async () => {
    expect((await part({ storedBefore: 5 })).records).to.be.within(10_000, 10_250)
    expect(Number((await part({ tag: 'rare' }, 2)).next)).to.be.within(10_000, 10_250)
    expect((await part({ group: 'video', by: 'key' })).keys).to.be.within(60_000, 62_499)
  })

  it('has all files of the largest part when all match', async () => {
    expect((await part({ group: 'image', limit: 1000 })).files).to.have.length(1000)
  })

  it('has the files of a folder that are far from the beginning of the list', async () => {
    const older = Array.from(
      { length: 2000 },
      () => newOriginal({ folder: 'old', format: knownFormat('png'), id: newFileId() }).key,
    )
    const index = {
      isComplete: async () => true,
      isCounted: async () => true,
      isPosition: () => true,
      folderCount: async (_client: string, _state: string, folder: string) => ({
        ...NOTHING_COUNTED,
        files: folder === '' ? 100_000 : older.length,
      }),
      async page(_: string, { by, after = '0', limit, matches = () => true }: PageRequest) {
        if (by === 'key') older.forEach(matches)
        return { files: [], next: by === 'key' ? undefined : String(Number(after) + limit) }
      },
      pick: async (_: string, { keys }: { keys: string[] }) =>
        keys.map((key) => ({ position: key, record: { ...record, key } })),
    } as unknown as FileIndex
    const request = { ...REQUEST, folder: 'old', limit: 12 }
    expect((await createList({ index, buckets: BUCKETS })(request)).files).to.have.length(12)
  })
})
