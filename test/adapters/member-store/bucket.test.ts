import { randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { diskBuckets } from '../../../src/adapters/bucket/disk/disk.ts'
import { inProcessLocks } from '../../../src/adapters/locks/in-process.ts'
import { redisLocks } from '../../../src/adapters/locks/redis.ts'
import { bucketMemberStore } from '../../../src/adapters/member-store/bucket.ts'
import { connectRedis } from '../../../src/adapters/redis/connection.ts'
import { redisSharedVersion } from '../../../src/adapters/shared-copy/redis-version.ts'
import { membersKey } from '../../../src/core/files/object-key.ts'
import type { MemberStore } from '../../../src/core/ports/members/member-store.ts'
import { seal } from '../../../src/core/signing/seal.ts'
import { snapshot } from '../../../src/core/storage/small-object.ts'
import { A_PASSKEY, adding, aMember, memberStoreContract } from '../../contracts/member-store.ts'
import { rejection } from '../../support/rejection.ts'
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
  const changes = redisSharedVersion(redis, { keyPrefix, name: 'members' })
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

  it('remain when a later version has stored more about them, which is left out', async () => {
    const { bucket, log } = opened
    const ada = aMember('ada')
    const members = [{ ...ada, passkeys: [{ ...A_PASSKEY, later: 1 }], later: { any: ['thing'] } }]
    const table = { members, operatorSessions: { generation: 0, ended: [] }, later: true }
    const bytes = Buffer.from(seal(JSON.stringify(table), { key: KEY, place: 'members' }))
    await bucket.put(membersKey, Readable.from([bytes]), { mediaType: 'application/json' })
    const store = await bucketMemberStore(bucket, { key: KEY, log })
    expect(store.table().members).to.deep.equal([{ ...ada, passkeys: [A_PASSKEY] }])
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

  it('are read again when the clock was set back', async () => {
    const { bucket, log } = opened
    const clock = { now: 1_800_000_000_000 }
    const store = await bucketMemberStore(bucket, { key: KEY, log, now: () => clock.now })
    await (await bucketMemberStore(bucket, { key: KEY, log })).change(adding('ada'))
    clock.now -= 86_400_000
    await store.refresh()
    expect(store.table().members).to.have.length(1)
  })

  it('remain known while the bucket is not the one it was, and are not replaced in it', async () => {
    const { bucket, log } = opened
    const clock = { now: 1_800_000_000_000 }
    const store = await bucketMemberStore(bucket, { key: KEY, log, now: () => clock.now })
    await store.change(adding('ada'))
    const { bytes } = (await snapshot(bucket, membersKey)) ?? {}
    await bucket.delete([membersKey])
    clock.now += 5 * 60_000
    for (const failing of [store.refresh(), store.change(adding('bob'))])
      expect(await rejection(failing)).to.include({ status: 503 })
    expect(store.table().members.map(({ name }) => name)).to.deep.equal(['ada'])
    expect(await bucket.find(membersKey)).to.equal(undefined)
    await bucket.put(membersKey, Readable.from([bytes]), { mediaType: 'application/json' })
    await store.change(adding('bob'))
    expect(store.table().members.map(({ name }) => name)).to.deep.equal(['ada', 'bob'])
  })

  describe('of several processes', () => {
    const locks = inProcessLocks()
    /** Notices of changes: `failing` is the operation that the store of the version refuses. */
    function notices() {
      const own = { count: 0, failing: undefined as 'announce' | 'version' | undefined }
      const refuse = (name: 'announce' | 'version') => {
        if (own.failing === name) throw new Error('Redis is down')
      }
      return Object.assign(own, {
        async announce() {
          refuse('announce')
          own.count += 1
        },
        async version() {
          refuse('version')
          return String(own.count)
        },
      })
    }
    const namesOf = (store: MemberStore) => store.table().members.map(({ name }) => name)

    it('are read again before a change, since a process may have died before its notice', async () => {
      const { bucket, log } = opened
      const changes = notices()
      const shared = { changes, locks }
      const [one, other] = [
        await bucketMemberStore(bucket, { key: KEY, log, shared }),
        await bucketMemberStore(bucket, { key: KEY, log, shared }),
      ]
      changes.failing = 'announce'
      const failure = await rejection(one.change(adding('ada')))
      expect(failure)
        .to.include({ status: 503 })
        .and.have.property('message')
        .that.matches(/not notified/)
      changes.failing = undefined
      await other.refresh()
      expect(namesOf(other)).to.deep.equal([])
      await other.change(adding('bob'))
      expect(namesOf(other)).to.deep.equal(['ada', 'bob'])
    })

    it('are not changed while other processes could not be notified', async () => {
      const { bucket, log } = opened
      const changes = notices()
      const store = await bucketMemberStore(bucket, { key: KEY, log, shared: { changes, locks } })
      await store.change(adding('ada'))
      changes.failing = 'version'
      for (const failing of [store.refresh(), store.change(adding('bob'))])
        expect(await rejection(failing)).to.include({ message: 'Redis is down' })
      expect(namesOf(await bucketMemberStore(bucket, { key: KEY, log }))).to.deep.equal(['ada'])
    })

    it('are read and written only when they have changed', async () => {
      const { bucket, log } = opened
      const calls: string[] = []
      const counted = {
        ...bucket,
        find: (...args: Parameters<typeof bucket.find>) => {
          calls.push('find')
          return bucket.find(...args)
        },
        put: (...args: Parameters<typeof bucket.put>) => {
          calls.push('put')
          return bucket.put(...args)
        },
      }
      const changes = notices()
      const store = await bucketMemberStore(counted, { key: KEY, log, shared: { changes, locks } })
      await store.change((table) => ({ table, result: undefined }))
      expect(calls).to.not.include('put')
      await changes.announce()
      await store.refresh()
      calls.length = 0
      await store.refresh()
      expect(calls).to.deep.equal([])
    })

    it('are not written by a process that has lost its lock', async () => {
      const { bucket, log } = opened
      const lost = {
        share: <T>(_: string, work: (signal: AbortSignal) => Promise<T>) => work(AbortSignal.abort()),
      }
      const shared = { changes: notices(), locks: lost }
      const store = await bucketMemberStore(bucket, { key: KEY, log, shared })
      expect(await rejection(store.change(adding('ada')))).to.include({ name: 'AbortError' })
      expect(await bucket.find(membersKey)).to.equal(undefined)
    })
  })
})
