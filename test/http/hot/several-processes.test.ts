import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { redisFileChanges } from '../../../src/adapters/file-changes/redis.ts'
import { redisIndex } from '../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis, type RedisConnection } from '../../../src/adapters/redis/connection.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { DISK_REDIS } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { deleteFile, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { type RedisServer, startRedis } from '../../support/servers/redis-server.ts'
import { recordLog, type Service, startService } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'

describe('the hot path of several processes on one Redis', () => {
  let one: Service
  let other: Service
  before(async function () {
    this.timeout(30_000)
    one = await startService({ backend: DISK_REDIS })
    other = await startService({ backend: DISK_REDIS, dataDir: one.dataDir })
  })
  after(async () => {
    await other.stop({ keepData: true })
    await one.stop()
  })

  it('delivers no byte of a deleted file: here after the answer, elsewhere after 200 ms', async function () {
    this.timeout(60_000)
    const deletes = sized(200, 1000)
    const late: string[] = []
    let hot = 0
    for (let done = 0; done < deletes; done += 20) {
      const batch = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          uploadOne(one, { name: 'a.txt', bytes: Buffer.from(`${done + i}`) }),
        ),
      )
      await Promise.all(
        batch.map(async ({ src, s3PathOriginal }) => {
          const path = new URL(src).pathname
          let deletedAt = Number.POSITIVE_INFINITY
          let isOver = false
          const read = async (service: Service, graceMs: number) => {
            let answers = 0
            while (!isOver) {
              const askedAt = performance.now()
              const { status } = await exchange(service, path)
              if (status === 200) answers += 1
              if (status === 200 && askedAt > deletedAt + graceMs)
                late.push(`${path}, after ${askedAt - deletedAt} ms`)
            }
            return answers
          }
          const readers = [read(one, 0), read(other, 200)]
          await pause(20)
          await deleteFile(one, s3PathOriginal)
          deletedAt = performance.now()
          await pause(230)
          isOver = true
          const [here = 0, there = 0] = await Promise.all(readers)
          hot += Number(here > 1 && there > 1)
        }),
      )
    }
    expect(late).to.deep.equal([])
    // Otherwise the readers were too slow to have anything in the cache.
    expect(hot).to.be.above(deletes / 20)
  })
})

describe('changes of files on Redis', () => {
  const PREFIX = '{changes}:'
  const KEY = storedKey('image/png/1111111111111111111111.png')
  const record = {
    key: KEY,
    originalName: 'a.png',
    mediaType: 'image/png',
    size: 1,
    sha256: 'a'.repeat(64),
    storedAt: 0,
  }
  let server: RedisServer
  let redis: RedisConnection
  const clock = { now: 0 }
  const seen: string[] = []
  let changes: ReturnType<typeof redisFileChanges>
  const isKnown = () => changes.knownUntil() > clock.now
  before(async () => {
    server = await startRedis()
    redis = connectRedis({ url: server.url })
    await redis.ready()
    changes = redisFileChanges(redis, { keyPrefix: PREFIX, log: recordLog(), now: () => clock.now })
    changes.listen({
      changed: (ref) => void seen.push(`${ref.clientId} ${ref.key}`),
      missed: () => void seen.push('missed'),
    })
    await eventually(() => expect(isKnown()).to.equal(true))
  })
  after(async () => {
    await changes.close()
    await redis.close()
    await server.remove()
  })
  beforeEach(() => {
    seen.length = 0
  })

  it('are reported with the client and the key, whichever connection has made them', async () => {
    const writer = connectRedis({ url: server.url })
    await writer.ready()
    const index = redisIndex(writer, { keyPrefix: PREFIX })
    await index.adopt('a client/with slash', record)
    await eventually(() => expect(seen).to.deep.equal([`a client/with slash ${KEY}`]))
    seen.length = 0
    await index.beginRemoval(
      { clientId: 'a client/with slash', key: KEY },
      { cause: 'delete', leaseUntil: 1, now: 0 },
    )
    await eventually(() => expect(seen).to.deep.equal([`a client/with slash ${KEY}`]))
    await writer.close()
  })

  it('are unknown 2 s after the last report, while Redis does not respond', async () => {
    await eventually(() => expect(changes.knownUntil()).to.equal(clock.now + 2000))
    server.freeze()
    try {
      clock.now += 1999
      expect(isKnown()).to.equal(true)
      clock.now += 1
      expect(isKnown()).to.equal(false)
    } finally {
      server.thaw()
    }
    await eventually(() => expect(isKnown()).to.equal(true))
  })

  it('may have been missed when the connection was lost', async () => {
    await eventually(() => expect(isKnown()).to.equal(true))
    await server.stop()
    await eventually(() => expect(seen).to.include('missed'))
    expect(isKnown()).to.equal(false)
    seen.length = 0
    await server.start()
    await eventually(() => expect(isKnown()).to.equal(true))
    expect(seen).to.include('missed')
  })

  it('may all have been missed after FLUSHALL', async () => {
    await redis.ready()
    await eventually(() => expect(isKnown()).to.equal(true))
    seen.length = 0
    await redis.send((client) => client.set(`${PREFIX}file:a/b`, '1'))
    await eventually(() => expect(seen).to.have.length(1))
    await redis.send((client) => client.flushall())
    await eventually(() => expect(seen).to.include('missed'))
    await eventually(() => expect(isKnown()).to.equal(true))
  })
})
