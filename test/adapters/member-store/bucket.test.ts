import { randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { diskBuckets } from '../../../src/adapters/bucket/disk/disk.ts'
import { redisClientChanges } from '../../../src/adapters/client-store/redis-changes.ts'
import { redisLocks } from '../../../src/adapters/locks/redis.ts'
import { bucketMemberStore } from '../../../src/adapters/member-store/bucket.ts'
import { connectRedis } from '../../../src/adapters/redis/connection.ts'
import { membersKey } from '../../../src/core/files/object-key.ts'
import { adding, memberStoreContract } from '../../contracts/member-store.ts'
import { newKeyPrefix, startRedis } from '../../support/servers/redis-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { recordLog } from '../../support/texts/recorded-log.ts'

const KEY = randomBytes(32)

async function openFolder() {
  const folder = await temporaryFolder()
  const buckets = await diskBuckets({ folder, urlOf: (key) => key })
  return { folder, bucket: buckets.of({ id: 'first', token: '' }), log: recordLog() }
}

memberStoreContract('bucket of one process', async () => {
  const { folder, bucket, log } = await openFolder()
  const store = await bucketMemberStore(bucket, { key: KEY, log })
  return { store, other: store, close: () => rm(folder, { recursive: true }) }
})

memberStoreContract('bucket and Redis', async () => {
  const { folder, bucket, log } = await openFolder()
  const { url } = await startRedis()
  const redis = connectRedis({ url })
  await redis.ready()
  const keyPrefix = newKeyPrefix()
  const changes = redisClientChanges(redis, { keyPrefix, name: 'members' })
  const locks = [redisLocks(redis, { keyPrefix }), redisLocks(redis, { keyPrefix })] as const
  const open = (own: (typeof locks)[number]) =>
    bucketMemberStore(bucket, { key: KEY, log, shared: { changes, locks: own } })
  return {
    store: await open(locks[0]),
    other: await open(locks[1]),
    async close() {
      for (const each of locks) await each.close()
      await redis.close()
      await rm(folder, { recursive: true })
    },
  }
})

describe('bucket: the members of the console', () => {
  let opened: Awaited<ReturnType<typeof openFolder>>
  beforeEach(async () => {
    opened = await openFolder()
  })
  afterEach(() => rm(opened.folder, { recursive: true }))

  it('are encrypted: who reads the bucket gets neither email addresses nor digests', async () => {
    const { folder, bucket, log } = opened
    const store = await bucketMemberStore(bucket, { key: KEY, log })
    await store.change(adding('ada'))
    const text = await readFile(join(folder, 'first', membersKey), 'utf8')
    expect(text).to.match(/^v1\.[\w-]+$/)
    expect(Buffer.from(text.slice(3), 'base64url').toString('latin1')).to.not.match(/ada|example|scrypt/)
  })

  it('cannot sign in with another APP_SECRET, which the log says, and the start succeeds', async () => {
    const { bucket, log } = opened
    const store = await bucketMemberStore(bucket, { key: KEY, log })
    await store.change(adding('ada'))
    expect(log.lines).to.deep.equal([])
    const other = await bucketMemberStore(bucket, { key: randomBytes(32), log })
    expect(other.table().members).to.deep.equal([])
    expect(log.lines.map(({ message }) => message).join()).to.match(/cannot be read with this APP_SECRET/)
  })

  it('are not changed when the object cannot be written', async () => {
    const { bucket, log } = opened
    const put = async () => {
      throw new Error('the disk is full')
    }
    const store = await bucketMemberStore({ ...bucket, put }, { key: KEY, log })
    const failure = await store.change(adding('ada')).catch((error) => error.message)
    expect(failure).to.equal('the disk is full')
    expect(store.table().members).to.deep.equal([])
  })

  it('are read again after five minutes, also without a notice of another process', async () => {
    const { bucket, log } = opened
    const clock = { now: 1_800_000_000_000 }
    const now = () => clock.now
    const store = await bucketMemberStore(bucket, { key: KEY, log, now })
    const other = await bucketMemberStore(bucket, { key: KEY, log, now })
    await other.change(adding('ada'))
    clock.now += 5 * 60_000 - 1
    await store.refresh()
    expect(store.table().members).to.have.length(0)
    clock.now += 1
    await store.refresh()
    expect(store.table().members).to.have.length(1)
  })
})
