import { expect } from 'chai'
import { embeddedIndex } from '../../src/adapters/file-index/embedded/embedded.ts'
import { redisIndex } from '../../src/adapters/file-index/redis/redis.ts'
import { connectRedis } from '../../src/adapters/redis/connection.ts'
import type { Client } from '../../src/core/clients/client.ts'
import type { Buckets } from '../../src/core/ports/bucket.ts'
import type { FileIndex } from '../../src/core/ports/file-index.ts'
import { createList } from '../../src/service/files/list.ts'
import type { ListRequest } from '../../src/service/files/list-request.ts'
import { newKeyPrefix, sharedRedis } from '../support/servers/redis-server.ts'
import { adoptMany, manyRecords } from '../support/stored/indexed-files.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const FILES = 100_000
const CLIENT = { id: 'first' } as Client
const BUCKETS = { of: () => ({ urlOf: (key: string) => key }) } as unknown as Buckets

const OPEN: Record<string, () => Promise<{ index: FileIndex; close(): Promise<void> }>> = {
  async embedded() {
    const index = await embeddedIndex(await temporaryFolder())
    return { index, close: () => index.close() }
  },
  async redis() {
    const redis = connectRedis({ url: (await sharedRedis()).url })
    await redis.ready()
    return { index: redisIndex(redis, { keyPrefix: newKeyPrefix() }), close: () => redis.close() }
  },
}

for (const [name, open] of Object.entries(OPEN))
  describe(`long: a search among ${FILES} files, ${name}`, function () {
    this.timeout(600_000)
    let index: FileIndex
    let close: () => Promise<void>
    const records = manyRecords(FILES)
    before(async () => {
      const opened = await open()
      index = opened.index
      close = opened.close
      const began = performance.now()
      await adoptMany(index, CLIENT.id, records)
      console.log(`      ${((performance.now() - began) / FILES).toFixed(3)} ms to add a file`)
      await index.markComplete()
    })
    after(() => close())

    /** Reads all parts of a list, and measures this process. */
    async function measured(search: Partial<ListRequest>, canSearch: boolean) {
      const list = createList({ index: { ...index, canSearch: async () => canSearch }, buckets: BUCKETS })
      const cpu = process.cpuUsage()
      const began = performance.now()
      let files = 0
      let requests = 0
      for (let after: string | undefined; requests === 0 || after !== undefined; requests += 1) {
        const part = await list({ ...NEWEST, ...search, after })
        files += part.files.length
        after = part.next
      }
      const { user, system } = process.cpuUsage(cpu)
      const ms = Math.round((performance.now() - began) * 10) / 10
      return { files, requests, ms, cpuMs: Math.round((user + system) / 100) / 10 }
    }

    const name = records[FILES / 2]?.originalName ?? ''
    // The number and the extension of one file, and the word and the day of many.
    for (const search of [{ search: name.slice(-10) }, { search: name.slice(0, -10) }, { tag: 'rare' }])
      it(`reads a fraction of the index for ${JSON.stringify(search)}`, async () => {
        await measured(search, true)
        const [before, after] = [await measured(search, false), await measured(search, true)]
        console.log(`      before ${JSON.stringify(before)}\n      after  ${JSON.stringify(after)}`)
        expect(after.files).to.equal(before.files)
        expect(after.cpuMs).to.be.below(before.cpuMs / 3)
      })
  })

const NEWEST: Omit<ListRequest, 'search' | 'tag'> = {
  client: CLIENT,
  state: 'stored',
  by: 'storedAt',
  direction: 'down',
  folder: '',
  limit: 100,
  signal: new AbortController().signal,
}
