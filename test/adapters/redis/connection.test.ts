import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { redisOptions } from '../../../src/adapters/redis/address.ts'
import { connectRedis, type RedisConnection, warnings } from '../../../src/adapters/redis/connection.ts'
import type { Problem } from '../../../src/core/problem.ts'
import { eventually } from '../../support/eventually.ts'
import { inTime } from '../../support/promised.ts'
import { rejection } from '../../support/rejection.ts'
import { type RedisServer, type RedisServerOptions, startRedis } from '../../support/servers/redis-server.ts'
import { recordLog } from '../../support/service.ts'
import { everyNth, itLong } from '../../support/sized.ts'
import { failOnUnhandledRejection } from '../../support/unhandled.ts'

describe('the address of Redis', () => {
  const addresses: Array<[string, object]> = [
    ['redis://localhost', { host: 'localhost', port: 6379, db: 0 }],
    ['redis://10.0.0.1:7000/3', { host: '10.0.0.1', port: 7000, db: 3 }],
    ['redis://[::1]:7000', { host: '::1', port: 7000, db: 0 }],
    ['redis://:p%40ss%2F@h/', { host: 'h', port: 6379, db: 0, password: 'p@ss/' }],
    ['redis://us%3Aer:pass@h:1', { host: 'h', port: 1, db: 0, username: 'us:er', password: 'pass' }],
    ['redis://h?timeout=15', { host: 'h', port: 6379, db: 0 }],
    ['rediss://h:6380', { host: 'h', port: 6380, db: 0, tls: { rejectUnauthorized: true } }],
  ]
  for (const [url, expected] of addresses) {
    it(`is parsed: ${url}`, () => expect(redisOptions({ url })).to.deep.equal(expected))
  }

  it('includes the certificate authority for TLS', () => {
    expect(redisOptions({ url: 'rediss://h', ca: 'PEM' })).to.have.deep.property('tls', {
      rejectUnauthorized: true,
      ca: 'PEM',
    })
  })

  it('may be that of Sentinels, with their own password', () => {
    expect(
      redisOptions({ url: 'rediss+sentinel://me:pass@a,b:1/one/3?sentinel_password=wo%20rd&timeout=2' }),
    ).to.deep.equal({
      db: 3,
      username: 'me',
      password: 'pass',
      tls: { rejectUnauthorized: true },
      sentinels: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 1 },
      ],
      name: 'one',
      sentinelPassword: 'wo rd',
      sentinelTLS: { rejectUnauthorized: true },
      enableTLSForSentinelMode: true,
      sentinelCommandTimeout: 2000,
    })
  })

  for (const url of [
    'http://u:hidden@h',
    'redis://u:hidden@',
    'redis://u:hidden@h:port',
    'redis://u:hidden@h/zero',
    'redis://u:hidden%zz@h',
    'redis://u:hidden@h?db=5',
    'redis://u:hidden@h?timeout=16',
    'redis://u:hidden@h?timeout=0',
    'redis://u:hidden@h?timeout=2&timeout=3',
    'redis://u:hidden@h?sentinel_password=a',
    'redis://u:hidden@h?',
    'hidden',
    '',
  ]) {
    it(`is refused, and not shown in the error: ${url}`, () => {
      expect(() => redisOptions({ url })).to.throw(Error, /^expected redis:\/\//)
      try {
        redisOptions({ url })
      } catch (error) {
        expect(inspect(error, { depth: 10 })).to.not.include('hidden')
      }
    })
  }
})

describe('a connection to Redis', () => {
  failOnUnhandledRejection()
  let server: RedisServer
  let opened: RedisConnection[]

  before(async () => {
    server = await startRedis({ fails: true })
  })
  after(() => server.remove())
  beforeEach(() => {
    opened = []
  })
  afterEach(async () => {
    server.thaw()
    await server.start()
    await Promise.all(opened.map((one) => one.close()))
  })

  function connect(options: Partial<Parameters<typeof connectRedis>[0]> = {}): RedisConnection {
    const redis = connectRedis({ url: server.url, ...options })
    opened.push(redis)
    return redis
  }

  const ask = (redis: RedisConnection) => redis.send((client) => client.set('k', 'v'))

  const failureOf = async (outcome: Promise<unknown>) => (await rejection(outcome)) as Problem

  for (const how of ['freeze', 'stop'] as const) {
    it(`fails with 503 in time, then at once, and reconnects (${how})`, async () => {
      const redis = connect()
      await redis.ready()
      await server[how]()
      const first = await inTime('the first', failureOf(ask(redis)))
      expect(first).to.include({ status: 503, code: 'unavailable' })
      expect(first.headers).to.have.property('Retry-After')
      expect(first.cause).to.be.instanceOf(Error)
      await pause(100)
      // Long enough for several attempts to connect, which a frozen server takes and does not answer.
      const times = how === 'freeze' ? 8 : 3
      for (let time = 0; time < times; time += 1) {
        const failure = await failureOf(ask(redis))
        expect(failure).to.include({ status: 503 })
        // It was not sent: a command that is waited for fails by its time limit.
        expect(inspect(failure.cause)).to.include("isn't writeable")
        await pause(400)
      }
      server.thaw()
      await server.start()
      await eventually(() => ask(redis))
    })
  }

  it('reports why there is no connection', async () => {
    const redis = connect()
    await redis.ready()
    await server.stop()
    await eventually(async () => {
      const failure = await failureOf(ask(redis))
      expect(inspect(failure, { depth: 5 })).to.include('ECONNREFUSED')
    })
  })

  it('does not send a command again that had no response when the connection was lost', async () => {
    const redis = connect()
    const other = connect()
    await Promise.all([redis.ready(), other.ready()])
    const waiting = rejection(redis.send((client) => client.blpop('queue', 0)))
    await eventually(async () => expect(await other.client.info('clients')).to.include('blocked_clients:1'))
    await other.client.client('KILL', 'TYPE', 'NORMAL')
    expect(await waiting).to.include({ status: 503 })
    await redis.ready()
    await other.client.rpush('queue', 'x')
    await pause(50)
    expect(await other.client.del('queue')).to.equal(1)
  })

  it('waits for the first connection, and reports why it fails', async () => {
    await server.stop()
    const redis = connect()
    const failure = await inTime('the wait', failureOf(redis.ready()))
    expect(failure).to.include({ status: 503, code: 'unavailable' })
    expect(inspect(failure.cause)).to.include('ECONNREFUSED')
    const again = redis.ready()
    await server.start()
    await again
    await ask(redis)
  })

  it('logs an outage once, and its end once', async () => {
    const log = recordLog()
    const redis = connect({ log })
    await redis.ready()
    expect(log.lines).to.deep.equal([])
    await server.stop()
    await eventually(() => expect(log.lines).to.have.length(1))
    await pause(100)
    await server.start()
    await redis.ready()
    await eventually(() => expect(log.lines).to.have.length(2))
    expect(log.lines.map(({ level, message }) => `${level} ${message}`)).to.deep.equal([
      'warn Redis cannot be reached',
      'info Redis can be reached again',
    ])
    await redis.close()
    await pause(50)
    expect(log.lines).to.have.length(2)
  })

  it('is opened again on a primary that has become a replica', async () => {
    const redis = connect()
    const other = connect()
    await Promise.all([redis.ready(), other.ready()])
    const connections = async () =>
      Number(/total_connections_received:(\d+)/.exec(await other.client.info('stats'))?.[1])
    const before = await connections()
    await other.client.replicaof('127.0.0.1', 1)
    try {
      expect(await failureOf(ask(redis))).to.include({ status: 503 })
      await eventually(async () => expect(await connections()).to.equal(before + 1))
      await redis.ready()
      const viaScript = redis.send((client) => client.eval('return redis.call("set", KEYS[1], "v")', 1, 'k'))
      expect(await failureOf(viaScript)).to.include({ status: 503 })
      await eventually(async () => expect(await connections()).to.equal(before + 2))
    } finally {
      await other.client.replicaof('NO', 'ONE')
    }
    await eventually(() => ask(redis))
  })

  it('waits for a response as long as the URL states', async () => {
    const redis = connect({ url: `${server.url}?timeout=15` })
    const usual = connect()
    await Promise.all([redis.ready(), usual.ready()])
    server.freeze()
    const answered = ask(redis)
    expect(await failureOf(ask(usual))).to.include({ status: 503 })
    server.thaw()
    expect(await answered).to.equal('OK')
  })

  it('can open another connection, which works independently', async () => {
    const redis = connect()
    const other = redis.another()
    await other.ready()
    await redis.close()
    expect(await other.send((client) => client.ping())).to.equal('PONG')
    await other.close()
    expect(await failureOf(ask(other))).to.include({ status: 503 })
  })

  itLong('closes in time when Redis is frozen, and does not reconnect', async () => {
    const redis = connect()
    await redis.ready()
    server.freeze()
    await inTime('the close', redis.close())
    server.thaw()
    await pause(500)
    expect(await failureOf(ask(redis))).to.include({ status: 503 })
  })

  it('closes while Redis is stopped', async () => {
    const redis = connect()
    await redis.ready()
    await server.stop()
    await pause(100)
    await redis.close()
    await server.start()
    await pause(300)
    expect(await failureOf(ask(redis))).to.include({ status: 503 })
  })

  describe('with a password', () => {
    const secret = 'hidden-in-the-url'

    before(async () => {
      const redis = connectRedis({ url: server.url })
      await redis.ready()
      await redis.client.acl('SETUSER', 'someone', 'on', `>${secret}`, '~*', '&*', '+@all')
      await redis.close()
    })
    const withUser = (password: string) => server.url.replace('//', `//someone:${password}@`)

    it('authenticates', async () => {
      const redis = connect({ url: withUser(secret) })
      await redis.ready()
      expect(await redis.client.acl('WHOAMI')).to.equal('someone')
    })

    it('reports a wrong password, and shows it nowhere', async () => {
      const log = recordLog()
      const wrong = 'wrong-and-hidden'
      const redis = connect({ url: withUser(wrong), log })
      const failure = await failureOf(redis.ready())
      expect(failure).to.include({ status: 503 })
      expect(inspect(failure.cause)).to.include('WRONGPASS')
      const asked = await failureOf(ask(redis))
      for (const shown of [failure, asked, log.lines])
        expect(inspect(shown, { depth: 20, showHidden: true })).to.not.include('hidden')
    })
  })

  describe('with a database', () => {
    it('selects that database', async () => {
      const redis = connect({ url: `${server.url}/3` })
      await redis.ready()
      await redis.send((client) => client.set('in', 'three'))
      const other = connect()
      await other.ready()
      expect(await other.client.get('in')).to.equal(null)
    })

    itLong('selects no other database when it does not exist', async () => {
      const redis = connect({ url: `${server.url}/99999` })
      const failure = await failureOf(redis.ready())
      expect(inspect(failure.cause)).to.include('DB index is out of range')
      expect(await failureOf(ask(redis))).to.include({ status: 503 })
    })
  })
})

describe('warnings about Redis', () => {
  async function warningsOf(options: RedisServerOptions, user?: readonly string[]): Promise<string[]> {
    const server = await startRedis({ ...options, fails: true })
    const redis = connectRedis({ url: server.url })
    await redis.ready()
    if (user) await redis.client.acl('SETUSER', 'default', ...user)
    try {
      return await warnings(redis)
    } finally {
      await redis.close()
      await server.remove()
    }
  }
  const noeviction = ['--maxmemory-policy', 'noeviction']

  it('are empty for a Redis with persistence, by log or snapshots', async () => {
    expect(await warningsOf({ appendOnly: true, options: noeviction })).to.deep.equal([])
    expect(await warningsOf({ options: [...noeviction, '--save', '3600 1'] })).to.deep.equal([])
  })

  for (const policy of everyNth(2, ['allkeys-lru', 'volatile-ttl'])) {
    it(`name an eviction policy that loses keys: ${policy}`, async () => {
      const [warning, ...more] = await warningsOf({
        appendOnly: true,
        options: ['--maxmemory-policy', policy],
      })
      expect(more).to.deep.equal([])
      expect(warning).to.include(policy).and.include('noeviction')
    })
  }

  it('report missing persistence', async () => {
    const [warning, ...more] = await warningsOf({ options: noeviction })
    expect(more).to.deep.equal([])
    expect(warning).to.match(/stores nothing on disk/)
  })

  it('report that CONFIG is forbidden', async () => {
    for (const forbidden of [
      await warningsOf({ appendOnly: true }, ['-config']),
      await warningsOf({ options: ['--rename-command', 'CONFIG', ''] }),
    ]) {
      expect(forbidden).to.have.length(2)
      expect(forbidden[0]).to.match(/does not return.*maxmemory-policy/)
      expect(forbidden[1]).to.match(/does not return.*disk/)
    }
  })

  it('fail while Redis is down', async () => {
    const server = await startRedis({ fails: true })
    const redis = connectRedis({ url: server.url })
    await redis.ready()
    await server.remove()
    expect(await rejection(warnings(redis))).to.include({ status: 503 })
    await redis.close()
  })
})
