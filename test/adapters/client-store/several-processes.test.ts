import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { diskBuckets } from '../../../src/adapters/bucket/disk/disk.ts'
import { bucketClientStore } from '../../../src/adapters/client-store/bucket.ts'
import { type RedisLocks, redisLocks } from '../../../src/adapters/locks/redis.ts'
import { connectRedis, type RedisConnection } from '../../../src/adapters/redis/connection.ts'
import { redisSharedVersion } from '../../../src/adapters/shared-copy/redis-version.ts'
import type { SharedVersion } from '../../../src/adapters/shared-copy/shared-copy.ts'
import { digestSecret, newSecretToken } from '../../../src/core/clients/client.ts'
import { clientRecordPrefix } from '../../../src/core/files/object-key.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import type { ClientStore } from '../../../src/core/ports/client-store.ts'
import { Problem } from '../../../src/core/problem.ts'
import { newClient } from '../../contracts/client-store.ts'
import { rejection } from '../../support/rejection.ts'
import { newKeyPrefix, type RedisServer, startRedis } from '../../support/servers/redis-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const FIVE_MINUTES = 5 * 60_000

describe('bucket: the clients of several processes', () => {
  let server: RedisServer
  let redis: RedisConnection
  let folder: string
  let bucket: Bucket
  let changes: SharedVersion
  /** Of each of the two processes. */
  let locks: { here: RedisLocks; elsewhere: RedisLocks }
  const clock = { now: 0 }
  /** How often the records have been read, by whomever. */
  let readings = 0
  let bucketIsAway = false
  let here: ClientStore
  let elsewhere: ClientStore

  before(async () => {
    server = await startRedis({ fails: true })
    redis = connectRedis({ url: server.url })
    await redis.ready()
    const keyPrefix = newKeyPrefix()
    locks = { here: redisLocks(redis, { keyPrefix }), elsewhere: redisLocks(redis, { keyPrefix }) }
  })
  after(async () => {
    await locks.here.close()
    await locks.elsewhere.close()
    await redis.close()
  })
  beforeEach(async () => {
    folder = await temporaryFolder()
    const buckets = await diskBuckets({ folder, urlOf: (key) => key })
    const disk = buckets.of({ id: 'first', token: '' })
    bucketIsAway = false
    bucket = {
      ...disk,
      list(prefix) {
        if (bucketIsAway) throw new Error('the bucket is away')
        readings += 1
        return disk.list(prefix)
      },
    }
    clock.now = 1_800_000_000_000
    changes = redisSharedVersion(redis, { keyPrefix: newKeyPrefix(), name: 'clients' })
    here = await open('here')
    elsewhere = await open('elsewhere')
    readings = 0
  })
  afterEach(() => rm(folder, { recursive: true }))

  const open = (process: keyof typeof locks) =>
    bucketClientStore(bucket, { shared: { changes, locks: locks[process] }, now: () => clock.now })

  async function recordCount(): Promise<number> {
    let count = 0
    for await (const _ of bucket.list(clientRecordPrefix)) count += 1
    return count
  }

  it('knows a new, changed or removed client after a refresh', async () => {
    const { client, secret } = newClient()
    await here.save(client)
    expect(elsewhere.find(client.id)).to.equal(undefined)
    await elsewhere.refresh()
    expect(elsewhere.findBySecret(secret)?.client).to.deep.equal(client)

    await here.save({ ...client, removing: { files: true } })
    await elsewhere.refresh()
    expect(elsewhere.findBySecret(secret)).to.equal(undefined)

    await here.remove(client.id)
    await elsewhere.refresh()
    expect(elsewhere.list()).to.deep.equal([])
  })

  it('reads no record while nothing has changed, and all records again after five minutes', async () => {
    await elsewhere.refresh()
    clock.now += FIVE_MINUTES - 1
    await elsewhere.refresh()
    expect(readings).to.equal(0)
    clock.now += 1
    await elsewhere.refresh()
    expect(readings).to.equal(1)
    await elsewhere.refresh()
    expect(readings).to.equal(1)
  })

  it('learns of changes also after its clock was set back', async () => {
    await elsewhere.refresh()
    clock.now -= 60 * 60_000
    const { client } = newClient()
    await here.save(client)
    await elsewhere.refresh({ maxAgeMs: 5000 })
    expect(elsewhere.find(client.id)).to.deep.equal(client)
  })

  it('checks a change against changes by other processes', async () => {
    const { client } = newClient()
    await here.save(client)
    const rival = { ...newClient().client, token: client.token }
    expect(await rejection(elsewhere.save(rival))).to.be.instanceOf(Error)
    expect(await recordCount()).to.equal(1)
  })

  it('runs changes of one client one after the other, each on the result of the one before', async () => {
    const { client } = newClient()
    await here.save(client)
    const added = Array.from({ length: 10 }, () => ({ digest: digestSecret(newSecretToken()) }))
    await Promise.all(
      added.map((secret, i) =>
        (i % 2 ? here : elsewhere).change(client.id, (present) => {
          if (!present) throw new Error('it is gone')
          return { ...present, secrets: [...present.secrets, secret] }
        }),
      ),
    )
    await here.refresh()
    expect(here.find(client.id)?.secrets).to.have.deep.members([...client.secrets, ...added])
  })

  it('changes the present record, even when the process that wrote it died before it announced it', async () => {
    const { client } = newClient()
    await here.save(client)
    await elsewhere.refresh()
    const quiet = await bucketClientStore(bucket)
    await quiet.save({ ...client, removing: { files: true } })
    const seen: unknown[] = []
    await elsewhere.change(client.id, (present) => {
      seen.push(present?.removing)
      return present
    })
    await quiet.remove(client.id)
    await elsewhere.change(client.id, (present) => {
      seen.push(present)
      return present
    })
    expect(seen).to.deep.equal([{ files: true }, undefined])
    expect(elsewhere.find(client.id)).to.equal(undefined)
    expect(await recordCount()).to.equal(0)
  })

  it('notices a change after Redis was emptied, however many came before', async () => {
    const { client } = newClient()
    await here.save(newClient().client)
    await elsewhere.refresh()
    await redis.client.flushall()
    await here.save(client)
    await elsewhere.refresh()
    expect(elsewhere.find(client.id)).to.deep.equal(client)
  })

  it('notices a change whose version Redis has lost before any process read it, also the first one', async () => {
    const { client, secret } = newClient()
    await here.save(client)
    await redis.client.flushall()
    await elsewhere.refresh()
    expect(elsewhere.findBySecret(secret)?.client).to.deep.equal(client)
    await here.save({ ...client, secrets: [] })
    await redis.client.flushall()
    await Promise.all([here.refresh(), elsewhere.refresh()])
    expect(elsewhere.findBySecret(secret)).to.equal(undefined)
    readings = 0
    await Promise.all([here.refresh(), elsewhere.refresh()])
    expect(readings, 'while nothing changes').to.equal(0)
  })

  it('reads all records again when Redis was emptied', async () => {
    await here.save(newClient().client)
    await elsewhere.refresh()
    readings = 0
    await redis.client.flushall()
    await elsewhere.refresh()
    expect(readings).to.equal(1)
  })

  it('uses its cached clients while the bucket is down, and reads the records after the outage', async () => {
    const { client } = newClient()
    await here.save(client)
    bucketIsAway = true
    expect(await rejection(elsewhere.refresh())).to.have.property('message', 'the bucket is away')
    expect(elsewhere.list()).to.deep.equal([])
    bucketIsAway = false
    await elsewhere.refresh()
    expect(elsewhere.list()).to.deep.equal([client])
  })

  it('stores a change, and reports it, when other processes cannot be notified', async () => {
    const deaf: SharedVersion = {
      ...changes,
      announce: async () => {
        throw new Error('gone in between')
      },
    }
    const store = await bucketClientStore(bucket, { shared: { changes: deaf, locks: locks.here } })
    const { client } = newClient()
    const error = await rejection(store.save(client))
    expect(error).to.be.instanceOf(Problem).with.property('status', 503)
    expect((error as Error).message).to.include('five minutes')
    expect(store.find(client.id)).to.deep.equal(client)
    clock.now += FIVE_MINUTES
    await elsewhere.refresh()
    expect(elsewhere.find(client.id)).to.deep.equal(client)
  })

  describe('while Redis is away', () => {
    const first = newClient().client
    beforeEach(async () => {
      await here.save(first)
      await elsewhere.refresh()
      await server.stop()
    })
    afterEach(async () => {
      await server.start()
      await redis.ready()
    })

    it('neither saves nor removes a client: 503', async () => {
      const { client, secret } = newClient()
      for (const change of [here.save(client), here.remove(first.id)])
        expect(await rejection(change))
          .to.be.instanceOf(Problem)
          .with.property('status', 503)
      expect(here.findBySecret(secret)).to.equal(undefined)
      expect(await recordCount()).to.equal(1)
      expect(here.list()).to.deep.equal([first])
    })

    it('uses its cached clients, reports that it gets no updates, and reads all records every five minutes', async () => {
      const { client } = newClient()
      const alone = await bucketClientStore(bucket)
      await alone.save(client)
      expect(await rejection(elsewhere.refresh()))
        .to.be.instanceOf(Problem)
        .with.property('status', 503)
      expect(elsewhere.list()).to.deep.equal([first])
      clock.now += FIVE_MINUTES
      await rejection(elsewhere.refresh())
      expect(elsewhere.list()).to.have.deep.members([first, client])
    })

    it('can be opened, and gets updates when Redis is back', async () => {
      const late = await open('elsewhere')
      await server.start()
      await redis.ready()
      const { client } = newClient()
      await here.save(client)
      await late.refresh()
      expect(late.list()).to.have.deep.members([first, client])
    })
  })
})
