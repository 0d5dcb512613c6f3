import { expect } from 'chai'
import { embeddedIndex } from '../../../src/adapters/file-index/embedded/embedded.ts'
import { positionOf } from '../../../src/adapters/file-index/positions.ts'
import type { Client } from '../../../src/core/clients/client.ts'
import { fileIdOf, newOriginal, parseKey } from '../../../src/core/files/object-key.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import type { Buckets } from '../../../src/core/ports/bucket.ts'
import type { FileIndex, OriginalRecord } from '../../../src/core/ports/file-index.ts'
import { createList } from '../../../src/service/files/list.ts'
import type { ListRequest } from '../../../src/service/files/list-request.ts'
import { seededRandom } from '../../contracts/random.ts'
import { sized } from '../../support/sized.ts'
import { adoptMany, manyRecords } from '../../support/stored/indexed-files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const FILES = sized(1500, 30_000)
const CLIENT = { id: 'first' } as Client
const BUCKETS = { of: () => ({ urlOf: (key: string) => key }) } as unknown as Buckets

describe('the list of the files in a folder itself', () => {
  // The oldest files are in a folder with many newer ones below it.
  const old = Array.from({ length: 20 }, (_, i): OriginalRecord => {
    const id = fileIdOf(Buffer.alloc(16, i + 1))
    const format = knownFormat(i % 2 ? 'png' : 'pdf')
    return {
      key: newOriginal({ folder: 'top', format, id }).key,
      originalName: `zz ${i}`,
      mediaType: format.mediaType,
      size: i,
      sha256: String(i).padStart(64, '0'),
      storedAt: i,
    }
  })
  const below = manyRecords(FILES).map((record): OriginalRecord => {
    const { format, folder, sourceName } = parseKey(record.key) ?? expect.fail(record.key)
    const id = sourceName.slice(0, 22)
    return {
      ...record,
      key: newOriginal({ folder: folder === '' ? 'top/c' : `top/${folder}`, format, id }).key,
    }
  })
  const inFolder = (folder: string, i: number): OriginalRecord => {
    const id = fileIdOf(Buffer.alloc(16, 100 + i))
    const key = newOriginal({ folder, format: knownFormat('png'), id }).key
    return { ...(old[0] as OriginalRecord), key, storedAt: 100 + i }
  }
  const few = ['few', 'few/a', 'few/b/c'].map(inFolder)
  const alike = inFolder('image/zzz', 3)
  const nowhere = Array.from({ length: FILES }, (_, i) => {
    const id = fileIdOf(Buffer.from(String(i).padStart(16, '0')))
    return { ...inFolder('', 4), key: newOriginal({ folder: '', format: knownFormat('png'), id }).key }
  })
  const all = [...below, ...old, ...few, alike, ...nowhere]
  let index: FileIndex
  let looked = 0
  let read = 0

  before(async function () {
    this.timeout(120_000)
    index = await embeddedIndex(await temporaryFolder())
    await adoptMany(index, CLIENT.id, all)
    await index.markComplete()
  })
  after(() => index.close())
  beforeEach(() => {
    looked = 0
    read = 0
  })

  /** Counts the keys that are looked at, and the records that are read. */
  const counting: () => FileIndex = () => ({
    ...index,
    async page(clientId, request) {
      const page = await index.page(clientId, {
        ...request,
        matches(key) {
          looked += 1
          return request.matches?.(key) ?? true
        },
      })
      read += page.files.length
      return page
    },
    async directKeys(clientId, request) {
      const keys = await index.directKeys(clientId, request)
      looked += keys.length
      return keys
    },
    async pick(clientId, request) {
      read += request.keys.length
      return index.pick(clientId, request)
    },
  })
  const REQUEST: ListRequest = {
    ...{ client: CLIENT, state: 'stored', by: 'storedAt', direction: 'down' },
    ...{ folder: 'top', isDirect: true, limit: 100 },
    signal: new AbortController().signal,
  }

  /** All parts of a list, and their number. */
  async function keysOf(request: Partial<ListRequest>): Promise<{ keys: string[]; parts: number }> {
    const list = createList({ index: counting(), buckets: BUCKETS })
    const keys: string[] = []
    for (let after: string | undefined, parts = 1; ; parts += 1) {
      const part = await list({ ...REQUEST, ...request, after })
      keys.push(...part.files.map(({ name }) => name.key))
      after = part.next
      if (after === undefined) return { keys, parts }
    }
  }

  it('is complete and sorted, for any folder, order, filter and size of a part', async function () {
    this.timeout(120_000)
    const trashed = new Set<string>()
    for (const { record } of (await index.page(CLIENT.id, { state: 'trashed', by: 'key', limit: FILES }))
      .files)
      trashed.add(record.key)
    const random = seededRandom(7)
    for (let i = 0; i < sized(15, 200); i += 1) {
      const request = {
        state: random.oneOf(['stored', 'stored', 'trashed'] as const),
        by: random.oneOf(['storedAt', 'key', 'name', 'size'] as const),
        direction: random.oneOf(['up', 'down'] as const),
        folder: random.oneOf(['', 'top', 'top/a', 'top/a/b', 'none']),
        isDirect: random.oneOf([true, true, false]),
        group: random.oneOf([undefined, undefined, 'image', 'application'] as const),
        limit: random.oneOf([7, 40, 100, 1000]),
      }
      const folderOf = (key: string) => key.split('/').slice(0, -3).join('/')
      const expected = all
        .filter(({ key }) => (request.state === 'trashed') === trashed.has(key))
        .filter(({ key }) =>
          request.isDirect
            ? folderOf(key) === request.folder
            : `${folderOf(key)}/`.startsWith(request.folder && `${request.folder}/`),
        )
        .filter(({ key }) => !request.group || key.split('/').at(-3) === request.group)
        .map((record) => ({ key: record.key, place: Buffer.from(positionOf(record, request.by)) }))
        .sort((a, b) => Buffer.compare(a.place, b.place))
        .map(({ key }) => key)
      if (request.direction === 'down') expected.reverse()
      expect((await keysOf(request)).keys, JSON.stringify(request)).to.deep.equal(expected)
    }
  })

  for (const by of ['storedAt', 'key', 'name', 'size'] as const)
    for (const direction of ['up', 'down'] as const)
      it(`costs as much as it returns, by ${by} ${direction}, with many files below`, async () => {
        const { keys, parts } = await keysOf({ by, direction })
        expect(keys).to.have.length(old.length)
        expect(parts).to.equal(1)
        expect(looked).to.be.below(2 * old.length)
        expect(read).to.equal(old.length)
        looked = 0
        read = 0
        expect(await keysOf({ by, direction, folder: 'none' })).to.deep.equal({ keys: [], parts: 1 })
        expect([looked, read]).to.deep.equal([0, 0])
      })

  for (const by of ['storedAt', 'key', 'name', 'size'] as const)
    it(`costs as much as it returns, by ${by}, also with the files below a small folder`, async () => {
      const { keys, parts } = await keysOf({ by, folder: 'few', isDirect: false })
      expect(keys).to.have.length(few.length)
      expect(parts).to.equal(1)
      expect(looked).to.be.below(3 * few.length)
      expect(read).to.equal(few.length)
    })

  it('is complete for a small folder whose prefix is that of many files in no folder', async () => {
    const { keys } = await keysOf({ folder: 'image', isDirect: false })
    expect(keys).to.deep.equal([alike.key])
  })

  it('reads no record outside the folder when it has many files', async () => {
    const { length } = below.filter(({ key }) => parseKey(key)?.folder === 'top/a')
    await keysOf({ folder: 'top/a', limit: 5 })
    expect(length).to.be.above(Math.sqrt(5 * FILES))
    // Parts read some records again.
    read = 0
    const list = createList({ index: counting(), buckets: BUCKETS })
    expect((await list({ ...REQUEST, folder: 'top/a', limit: 5 })).files).to.have.length(5)
    expect(read).to.be.below(100)
  })
})
