import { expect } from 'chai'
import { redisFileChanges } from '../../../src/adapters/file-changes/redis.ts'
import { hashPrefix } from '../../../src/adapters/file-index/redis/keys.ts'
import { redisIndex } from '../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis, type RedisConnection } from '../../../src/adapters/redis/connection.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { eventually } from '../../support/eventually.ts'
import { type RedisServer, startRedis } from '../../support/servers/redis-server.ts'
import { recordLog } from '../../support/service.ts'

describe('changes of files on Redis', () => {
  const PREFIX = '{changes}:'
  const ID = '1111111111111111111111'
  const KEY = storedKey(`image/png/${ID}.png`)
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
    server = await startRedis({ fails: true })
    redis = connectRedis({ url: server.url })
    await redis.ready()
    changes = redisFileChanges([{ redis, keyPrefix: PREFIX }], {
      log: recordLog(),
      now: () => clock.now,
    })
    changes.listen({
      changed: ({ clientId, id }) => void seen.push(`${clientId} ${id}`),
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

  it('are reported with the client and the id, whichever connection has made them', async () => {
    const writer = connectRedis({ url: server.url })
    await writer.ready()
    const index = redisIndex(writer, { keyPrefix: PREFIX })
    await index.adopt('a client/with slash', record)
    await eventually(() => expect(seen).to.deep.equal([`a client/with slash ${ID}`]))
    seen.length = 0
    await index.beginRemoval(
      { clientId: 'a client/with slash', key: KEY },
      { cause: 'delete', leaseUntil: 1, now: 0 },
    )
    await eventually(() => expect(seen).to.deep.equal([`a client/with slash ${ID}`]))
    seen.length = 0
    // Another key of this id has a hash with the whole key in its name.
    const other = storedKey(`folder/image/png/${ID}.png`)
    await index.adopt('one', record)
    await index.adopt('one', { ...record, key: other })
    await eventually(() => expect(seen).to.deep.equal([`one ${ID}`, `one ${ID}`]))
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
    await redis.send((client) => client.set(`${hashPrefix(PREFIX)}a/b`, '1'))
    await eventually(() => expect(seen).to.have.length(1))
    await redis.send((client) => client.flushall())
    await eventually(() => expect(seen).to.include('missed'))
    await eventually(() => expect(isKnown()).to.equal(true))
  })
})
