import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { type RedisLocks, redisLocks } from '../../../src/adapters/locks/redis.ts'
import { connectRedis, type RedisConnection } from '../../../src/adapters/redis/connection.ts'
import { locksContract } from '../../contracts/locks/locks.ts'
import { locksAcrossProcesses } from '../../contracts/locks/locks-across-processes.ts'
import { eventually } from '../../support/eventually.ts'
import { builtScript } from '../../support/programs/built-script.ts'
import { inTime } from '../../support/promised.ts'
import { rejection } from '../../support/rejection.ts'
import {
  newKeyPrefix,
  type RedisServer,
  sharedRedis,
  startRedis,
} from '../../support/servers/redis-server.ts'
import { itLong } from '../../support/sized.ts'
import { failOnUnhandledRejection } from '../../support/unhandled.ts'

const LEASE_MS = 1500
const limitMs = 30_000

/** The locks of as many processes as asked, each with connections of its own. */
async function several(count: number, { leaseMs }: { leaseMs?: number } = {}) {
  const { url } = await sharedRedis()
  const keyPrefix = newKeyPrefix()
  const processes = await Promise.all(
    Array.from({ length: count }, async () => {
      const redis = connectRedis({ url })
      await redis.ready()
      const locks = redisLocks(redis, { keyPrefix, ...(leaseMs ? { leaseMs } : {}) })
      const die = async () => {
        redis.client.disconnect()
        await locks.close()
      }
      return { redis, locks, die }
    }),
  )
  return {
    processes,
    waiters: async (key: string) =>
      (await processes.at(-1)?.redis.client.zcard(`${keyPrefix}lock:{${key}}:waiters`)) ?? 0,
    async close() {
      for (const { redis, locks } of processes) {
        await locks.close()
        await redis.close()
      }
    },
  }
}

locksContract('redis, one connection', async () => {
  const { processes, close } = await several(1)
  const [one] = processes
  if (!one) throw new Error('no process')
  return { locks: one.locks, elsewhere: one.locks, waits: async () => {}, close }
})

locksContract('redis, two connections', async () => {
  const { processes, waiters, close } = await several(2)
  const [one, other] = processes
  if (!one || !other) throw new Error('no processes')
  const waits = (key: string) => eventually(async () => expect(await waiters(key)).to.equal(1))
  return { locks: one.locks, elsewhere: other.locks, waits, close }
})

locksAcrossProcesses('redis', several, { leaseMs: LEASE_MS })

describe('redis: a lock', () => {
  failOnUnhandledRejection()
  let server: RedisServer
  let redis: RedisConnection
  let other: RedisConnection
  let keyPrefix: string
  let opened: RedisLocks[]

  before(async () => {
    server = await startRedis({ fails: true })
  })
  after(() => server.remove())
  beforeEach(async () => {
    keyPrefix = newKeyPrefix()
    opened = []
    redis = connectRedis({ url: server.url })
    other = connectRedis({ url: server.url })
    await Promise.all([redis.ready(), other.ready()])
  })
  afterEach(async () => {
    await server.start()
    await Promise.all([...opened, redis, other].map((one) => one.close()))
  })

  function locksOn(connection: RedisConnection, leaseMs = LEASE_MS): RedisLocks {
    const locks = redisLocks(connection, { keyPrefix, leaseMs })
    opened.push(locks)
    return locks
  }

  const never = async (): Promise<never> => {
    throw new Error('this work was not to be done')
  }

  /** Resolves when so many processes wait for the lock: Redis has a place for each. */
  const waiters = (count = 1) =>
    eventually(async () =>
      expect(await redis.client.zcard(`${keyPrefix}lock:{k}:waiters`)).to.be.at.least(count),
    )

  /** The number of processes that receive messages about locks. */
  const subscriptions = () => redis.client.pubsub('NUMSUB', `${keyPrefix}locks`)

  /** Work that ends on request, and its progress. */
  function work() {
    let end: (result: string) => void = () => {}
    let fail: (error: Error) => void = () => {}
    const ended = new Promise<string>((resolve, reject) => {
      end = resolve
      fail = reject
    })
    const seen: { signal?: AbortSignal } = {}
    const does = (signal: AbortSignal) => {
      seen.signal = signal
      return ended
    }
    return {
      does,
      end: (result: string) => end(result),
      fail: (error: Error) => fail(error),
      begun: () => eventually(() => expect(seen.signal).to.not.equal(undefined)),
      aborted: () => seen.signal?.aborted,
    }
  }

  describe('shared with another process', () => {
    /** A process that holds a lock; the test kills it. */
    interface Holder {
      child: ChildProcess
      output(): string
      ended: Promise<unknown>
    }

    const holders: Holder[] = []
    afterEach(async () => {
      for (const { child, ended } of holders.splice(0)) {
        child.kill('SIGKILL')
        await ended
      }
    })

    async function holder(name: string, leaseMs: number): Promise<Holder> {
      const script = await builtScript('lock-holder')
      const child = spawn(process.execPath, [script, server.url, keyPrefix, `${leaseMs}`, name])
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text
        })
      }
      const started = { child, output: () => output, ended: once(child, 'close') }
      holders.push(started)
      await eventually(() => expect(output).to.include('held'))
      return started
    }

    it('passes to a waiter within its lease when the process of the holder is killed', async () => {
      const { child } = await holder('k', 1000)
      const asked = locksOn(redis, 1000).share('k', async () => 'taken over', { limitMs })
      await waiters()
      // Frozen first: from here on it renews nothing, and its lease is over at a known time.
      child.kill('SIGSTOP')
      const leaseUntil = await redis.client.pexpiretime(`${keyPrefix}lock:{k}`)
      child.kill('SIGKILL')
      expect(await asked).to.equal('taken over')
      expect(Date.now() - leaseUntil).to.be.at.least(0)
    })

    it('is lost when the process is frozen for longer than the lease: its work is aborted when it continues', async () => {
      const { child, output } = await holder('k', 1000)
      child.kill('SIGSTOP')
      const next = work()
      const asked = [locksOn(redis, 1000).share('k', next.does, { limitMs })]
      await next.begun()
      child.kill('SIGCONT')
      await eventually(() => expect(output()).to.match(/aborted\nfailed: /))
      // Its late messages have no effect.
      asked.push(locksOn(other, 1000).share('k', never, { limitMs }))
      await waiters()
      next.end('done')
      expect(await Promise.all(asked)).to.deep.equal(['done', 'done'])
    })

    itLong('is not lost when the process is frozen for a moment', async () => {
      const { child, output } = await holder('k', 2500)
      child.kill('SIGSTOP')
      await pause(500)
      child.kill('SIGCONT')
      const patience = AbortSignal.timeout(2800)
      const waiting = locksOn(redis).share('k', never, { limitMs, signal: patience })
      expect(await rejection(waiting)).to.equal(patience.reason)
      expect(output()).to.equal('held\n')
    })
  })

  it('has the lease that its caller decides', async () => {
    const one = work()
    const asked = locksOn(redis).share('k', one.does, { limitMs, leaseMs: 60_000 })
    await one.begun()
    expect(await redis.client.pttl(`${keyPrefix}lock:{k}`)).to.be.greaterThan(LEASE_MS)
    one.end('done')
    expect(await asked).to.equal('done')
  })

  itLong('has a lease of ten seconds, renewed three times in that time, and leaves no key', async () => {
    const begunAfter = Date.now()
    const [locks, elsewhere] = [redisLocks(redis, { keyPrefix }), redisLocks(other, { keyPrefix })]
    opened.push(locks, elsewhere)
    const one = work()
    const asked = [locks.share('k', one.does, { limitMs })]
    await one.begun()
    asked.push(elsewhere.share('k', never, { limitMs }))
    // Instants of Redis's own clock, so that it does not matter when this process comes to look.
    const leaseUntil = () => redis.client.pexpiretime(`${keyPrefix}lock:{k}`)
    const first = await leaseUntil()
    expect(first - begunAfter).to.be.within(9990, 20_000)
    const leases = [first]
    await eventually(async () => {
      const until = await leaseUntil()
      if (until !== leases.at(-1)) leases.push(until)
      // The first may come sooner, with news of the others.
      const [last = 0, middle = 0, early = 0] = leases.toReversed()
      expect(last - middle).to.be.within(3200, 6000)
      expect(middle - early).to.be.within(3200, 6000)
    })
    one.end('done')
    expect(await Promise.all(asked)).to.deep.equal(['done', 'done'])
    for (const key of await redis.client.keys(`${keyPrefix}*`)) {
      expect(key).to.match(/:outcome:/)
      expect(await redis.client.pttl(key)).to.be.within(1, 10_000)
    }
  })

  it('is released without work when all callers leave while it is being requested', async () => {
    const patience = new AbortController()
    const runs: string[] = []
    const does = async (name: string) => {
      runs.push(name)
      return name
    }
    const asked = rejection(
      locksOn(redis, 10_000).share('k', () => does('first'), { limitMs, signal: patience.signal }),
    )
    // The request is on its way by then.
    await Promise.resolve()
    patience.abort(new Error('left'))
    expect(await asked).to.have.property('message', 'left')
    expect(await locksOn(other, 10_000).share('k', () => does('next'), { limitMs })).to.equal('next')
    expect(runs).to.deep.equal(['next'])
    // Long before it would expire.
    await eventually(async () => expect(await redis.client.keys(`${keyPrefix}*`)).to.deep.equal([]))
  })

  it('passes its outcome to waiters though every message is lost', async () => {
    // The lease is checked every second, and lasts for longer than a test may take.
    const [locks, elsewhere] = [locksOn(redis, 600_000), locksOn(other, 600_000)]
    const one = work()
    const asked = locks.share('k', one.does, { limitMs })
    await one.begun()
    const waiting = elsewhere.share('k', never, { limitMs })
    await waiters()
    await elsewhere.close()
    one.end('done')
    expect(await waiting).to.equal('done')
    expect(await asked).to.equal('done')
  })

  it('receives messages again after its subscription was interrupted', async () => {
    const [locks, elsewhere] = [locksOn(redis, 10_000), locksOn(other, 10_000)]
    const one = work()
    const asked = locks.share('k', one.does, { limitMs })
    await one.begun()
    const waiting = elsewhere.share('k', never, { limitMs })
    await waiters()
    await redis.client.client('KILL', 'TYPE', 'PUBSUB')
    await eventually(async () => expect(await subscriptions()).to.deep.equal([`${keyPrefix}locks`, 2]))
    one.end('done')
    expect(await waiting).to.equal('done')
    expect(await asked).to.equal('done')
  })

  it('works for a Redis user who may not publish or subscribe', async () => {
    await redis.client.acl('SETUSER', 'quiet', 'on', '>secret', '~*', 'resetchannels', '+@all')
    const url = server.url.replace('//', '//quiet:secret@')
    const connections = [connectRedis({ url }), connectRedis({ url })] as const
    await Promise.all(connections.map((one) => one.ready()))
    const [locks, elsewhere] = connections.map((one) => locksOn(one, 10_000)) as [RedisLocks, RedisLocks]
    try {
      const one = work()
      const asked = [locks.share('k', one.does, { limitMs })]
      await one.begun()
      asked.push(elsewhere.share('k', never, { limitMs }))
      await waiters()
      one.end('done')
      expect(await Promise.all(asked)).to.deep.equal(['done', 'done'])
    } finally {
      await Promise.all(connections.map((one) => one.close()))
    }
  })

  it('works after its user loses the right to subscribe', async () => {
    const acl = (...rules: string[]) => redis.client.acl('SETUSER', 'fickle', ...rules)
    await acl('on', '>secret', '~*', '&*', '+@all')
    const third = connectRedis({ url: server.url.replace('//', '//fickle:secret@') })
    await third.ready()
    try {
      const locks = locksOn(third, 10_000)
      const subscribers = async () => (await redis.client.pubsub('NUMSUB', `${keyPrefix}locks`))[1]
      await eventually(async () => expect(await subscribers()).to.equal(1))
      // Redis cuts the connection that has subscribed; it comes back and is refused.
      await acl('resetchannels')
      await eventually(async () => expect(await subscribers()).to.equal(0))
      await pause(300)
      expect(await locks.share('k', async () => 'done', { limitMs })).to.equal('done')
    } finally {
      await Promise.all(opened.splice(0).map((one) => one.close()))
      await third.close()
    }
  })

  it('fails with 503 in time for all callers while Redis is frozen or stopped', async () => {
    const locks = locksOn(redis)
    for (const how of ['freeze', 'stop'] as const) {
      await server[how]()
      for (let time = 0; time < 3; time += 1) {
        const failure = await inTime(how, rejection(locks.share('k', never, { limitMs })))
        expect(failure, how).to.include({ status: 503, code: 'unavailable' })
        expect((failure as Error).cause).to.be.instanceOf(Error)
      }
      server.thaw()
      await server.start()
      await redis.ready()
      expect(await locks.share('k', async () => 'back', { limitMs })).to.equal('back')
    }
  })

  it('fails with 503 in time for waiters when Redis stops', async () => {
    const one = work()
    const asked = rejection(locksOn(redis).share('k', one.does, { limitMs }))
    await one.begun()
    const waiting = rejection(locksOn(other).share('k', never, { limitMs }))
    await waiters()
    await server.stop()
    expect(await inTime('the waiter', waiting)).to.include({ status: 503, code: 'unavailable' })
    expect(await asked, 'the holder may not be the only one any more').to.include({ status: 503 })
    expect(one.aborted()).to.equal(true)
    one.end('too late')
  })

  it('returns the result to the holder when Redis is down at the end', async () => {
    const one = work()
    const asked = locksOn(redis, 10_000).share('k', one.does, { limitMs })
    await one.begun()
    await server.stop()
    one.end('done')
    expect(await asked).to.equal('done')
  })

  itLong('survives a short outage of a Redis with persistence', async () => {
    const keeping = await startRedis({ appendOnly: true, fails: true })
    const connections = [connectRedis({ url: keeping.url }), connectRedis({ url: keeping.url })] as const
    await Promise.all(connections.map((one) => one.ready()))
    const [locks, elsewhere] = connections.map((one) => locksOn(one, 6000)) as [RedisLocks, RedisLocks]
    try {
      const one = work()
      const asked = locks.share('k', one.does, { limitMs })
      await one.begun()
      await keeping.stop()
      await keeping.start()
      await Promise.all(connections.map((each) => each.ready()))
      const late = elsewhere.share('k', never, { limitMs })
      await pause(2500)
      expect(one.aborted()).to.equal(false)
      one.end('done')
      expect([await asked, await late]).to.deep.equal(['done', 'done'])
    } finally {
      await Promise.all(connections.map((one) => one.close()))
      await keeping.remove()
    }
  })

  it('is lost when Redis comes back empty, and its late end releases no other lock', async () => {
    const [locks, elsewhere] = [locksOn(redis, 6000), locksOn(other, 6000)]
    const [old, next] = [work(), work()]
    const lost = rejection(locks.share('k', old.does, { limitMs }))
    await old.begun()
    await redis.client.flushall()
    const asked = [elsewhere.share('k', next.does, { limitMs })]
    await next.begun()
    expect(await lost).to.include({ status: 503 })
    expect(old.aborted()).to.equal(true)
    old.end('too late')
    await pause(50)
    asked.push(locks.share('k', never, { limitMs }))
    await waiters()
    next.end('done')
    expect(await Promise.all(asked)).to.deep.equal(['done', 'done'])
  })

  it('does not pass its timeout to later callers, though an earlier one has not received it yet', async () => {
    const third = connectRedis({ url: server.url })
    await third.ready()
    try {
      const old = work()
      const first = rejection(locksOn(redis, 10_000).share('k', old.does, { limitMs: 1000 }))
      await old.begun()
      const deaf = locksOn(other, 10_000)
      const waiting = rejection(deaf.share('k', never, { limitMs }))
      await waiters()
      await deaf.close()
      expect(await first).to.include({ status: 503 })
      const late = locksOn(third, 10_000).share('k', async () => 'anew', { limitMs })
      expect(await waiting).to.include({ status: 503 })
      // Longer than anyone waits before looking.
      await pause(1200)
      old.end('too late')
      expect(await late).to.equal('anew')
    } finally {
      await Promise.all(opened.splice(0).map((one) => one.close()))
      await third.close()
    }
  })

  it('passes no abort to a caller whose place has expired: it works itself', async () => {
    const third = connectRedis({ url: server.url })
    await third.ready()
    try {
      const old = work()
      const patience = new AbortController()
      const left = rejection(
        locksOn(redis, 10_000).share('k', old.does, { limitMs, signal: patience.signal }),
      )
      await old.begun()
      let runs = 0
      const anew = async () => {
        runs += 1
        await pause(20)
        return `anew ${runs}`
      }
      const asked = [locksOn(other, 10_000).share('k', anew, { limitMs })]
      await waiters()
      // As if it had been frozen for longer than its place lasts. The holder leaves before the waiter can renew its place.
      const expired = redis.client.del(`${keyPrefix}lock:{k}:waiters`)
      patience.abort(new Error('left'))
      await expired
      expect(await left).to.have.property('message', 'left')
      await eventually(() => expect(old.aborted()).to.equal(true))
      asked.push(locksOn(third, 10_000).share('k', anew, { limitMs }))
      await pause(30)
      old.fail(new Error('aborted'))
      for (const answer of await Promise.all(asked)) expect(answer).to.match(/^anew/)
    } finally {
      await Promise.all(opened.splice(0).map((one) => one.close()))
      await third.close()
    }
  })

  itLong('polls rarely while it waits', async () => {
    const [locks, elsewhere] = [locksOn(redis, 10_000), locksOn(other, 10_000)]
    const one = work()
    const asked = [locks.share('k', one.does, { limitMs })]
    await one.begun()
    for (let i = 0; i < 50; i += 1) asked.push(elsewhere.share('k', never, { limitMs }))
    await waiters()
    await redis.client.config('RESETSTAT')
    await pause(2000)
    const stats = await redis.client.info('commandstats')
    const calls = Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0)
    expect(calls).to.be.within(1, 3)
    one.end('done')
    expect(new Set(await Promise.all(asked))).to.deep.equal(new Set(['done']))
  })
})
