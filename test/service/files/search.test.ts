import { expect } from 'chai'
import { embeddedIndex } from '../../../src/adapters/file-index/embedded/embedded.ts'
import { redisIndex } from '../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis } from '../../../src/adapters/redis/connection.ts'
import type { Client } from '../../../src/core/clients/client.ts'
import type { Buckets } from '../../../src/core/ports/bucket.ts'
import type { FileIndex, OriginalRecord } from '../../../src/core/ports/file-index.ts'
import { createList } from '../../../src/service/files/list.ts'
import type { ListRequest } from '../../../src/service/files/list-request.ts'
import { seededRandom } from '../../contracts/random.ts'
import { newKeyPrefix, sharedRedis } from '../../support/servers/redis-server.ts'
import { sized } from '../../support/sized.ts'
import { adoptMany, manyRecords } from '../../support/stored/indexed-files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const FILES = sized(1200, 30_000)
const CLIENT = { id: 'first' } as Client
const BUCKETS = { of: () => ({ urlOf: (key: string) => key }) } as unknown as Buckets

const OPEN: Record<string, () => Promise<FileIndex>> = {
  embedded: async () => embeddedIndex(await temporaryFolder()),
  async redis() {
    const redis = connectRedis({ url: (await sharedRedis()).url })
    await redis.ready()
    return { ...redisIndex(redis, { keyPrefix: newKeyPrefix() }), close: () => redis.close() }
  },
}

for (const [name, open] of Object.entries(OPEN))
  describe(`the list of files with a search, ${name}`, () => {
    const records = manyRecords(FILES)
    let index: FileIndex
    let reads = 0
    let isOfOldVersion = false

    before(async function () {
      this.timeout(120_000)
      index = await open()
      await adoptMany(index, CLIENT.id, records)
      await index.markComplete()
    })
    after(() => index.close())
    beforeEach(() => {
      reads = 0
      isOfOldVersion = false
    })

    /** Counts the records that are read. */
    const counting = (): FileIndex => ({
      ...index,
      async page(clientId, request) {
        const page = await index.page(clientId, request)
        reads += page.files.length
        return page
      },
      async pick(clientId, request) {
        reads += request.keys.length
        return index.pick(clientId, request)
      },
      canSearch: async () => !isOfOldVersion && (await index.canSearch()),
    })

    const NEWEST: ListRequest = {
      client: CLIENT,
      state: 'stored',
      by: 'storedAt',
      direction: 'down',
      folder: '',
      limit: 100,
      signal: new AbortController().signal,
    }

    /** All parts of a list. */
    async function keysOf(request: Partial<ListRequest>): Promise<string[]> {
      const list = createList({ index: counting(), buckets: BUCKETS })
      const keys: string[] = []
      for (let after: string | undefined; ; ) {
        const part = await list({ ...NEWEST, ...request, after })
        keys.push(...part.files.map(({ record }) => record.key))
        if (part.next === undefined) return keys
        after = part.next
      }
    }

    it('has the same files in the same order as without the search, for many combinations of filters', async function () {
      this.timeout(120_000)
      const random = seededRandom(17)
      const texts = [
        undefined,
        'invoice',
        'größe',
        '99',
        '.mp4',
        ' 2020',
        'screenshot of a window 20200',
        '日',
        'z',
      ]
      for (let i = 0; i < sized(25, 150); i += 1) {
        const request: Partial<ListRequest> = {
          state: random.oneOf(['stored', 'stored', 'trashed'] as const),
          by: random.oneOf(['storedAt', 'key', 'name', 'size'] as const),
          direction: random.oneOf(['up', 'down'] as const),
          folder: random.oneOf(['', '', 'a', 'a/b']),
          group: random.oneOf([undefined, undefined, 'image', 'application'] as const),
          search: random.oneOf(texts),
          tag: random.oneOf([undefined, undefined, 'rare', 'often', 'none']),
          limit: random.oneOf([40, 100, 1000]),
        }
        isOfOldVersion = true
        const expected = await keysOf(request)
        isOfOldVersion = false
        expect(await keysOf(request), JSON.stringify(request)).to.deep.equal(expected)
      }
    })

    const [rare] = records.filter(({ originalName }) => originalName.includes('Invoice'))
    const rareName = String(rare?.originalName.toUpperCase())
    const matching = (matches: (record: OriginalRecord) => boolean) => records.filter(matches).length

    it('reads few records to find a rare name or tag', async () => {
      expect(await keysOf({ search: rareName.slice(3) })).to.deep.equal([rare?.key])
      expect(reads).to.equal(1)
      await keysOf({ tag: 'rare' })
      expect(reads - 1).to.equal(matching(({ tags }) => tags?.includes('rare') ?? false))
      reads = 0
      expect(await keysOf({ search: 'no such name' })).to.deep.equal([])
      expect(await keysOf({ tag: 'rar' })).to.deep.equal([])
      expect(reads).to.equal(0)
    })

    it('reads no record of another folder or type', async () => {
      await keysOf({ search: 'invoice', folder: 'a/b', group: 'video', limit: 1000 })
      const inFolder = ({ key, originalName }: OriginalRecord) =>
        key.startsWith('a/b/video/') && originalName.includes('Invoice')
      expect(reads).to.equal(matching(inFolder))
    })

    it('reads the list for the first page of a frequent text', async () => {
      const list = createList({ index: counting(), buckets: BUCKETS })
      expect((await list({ ...NEWEST, search: 'i', limit: 10 })).files).to.have.length(10)
      expect(reads).to.equal(250)
    })

    it('reads the list while the search is incomplete after an upgrade', async () => {
      isOfOldVersion = true
      expect(await keysOf({ search: rareName })).to.deep.equal([rare?.key])
      expect(reads).to.be.at.least(FILES / 2)
    })
  })
