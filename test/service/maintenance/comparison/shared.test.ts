import { expect } from 'chai'
import { inProcessLocks } from '../../../../src/adapters/locks/in-process.ts'
import { redisLocks } from '../../../../src/adapters/locks/redis.ts'
import { connectRedis } from '../../../../src/adapters/redis/connection.ts'
import { deferred } from '../../../../src/core/async/deferred.ts'
import { derivativeKey, recordKey } from '../../../../src/core/files/object-key.ts'
import { unavailable } from '../../../../src/core/problem.ts'
import { eventually } from '../../../support/eventually.ts'
import { rejection } from '../../../support/rejection.ts'
import { newKeyPrefix, sharedRedis } from '../../../support/servers/redis-server.ts'
import { type ComparedStorage, openCompared, textKey } from '../../../support/stored/compared.ts'

const { signal } = new AbortController()
// With batches of 8 objects, and 5 batches in a range: 20 files in each of 4 ranges, and 40 where only records are listed.
const FILES = 80

describe('processes that compare index and bucket', () => {
  let storage: ComparedStorage
  beforeEach(async () => {
    storage = await openCompared(['a', 'b'])
  })
  afterEach(() => storage.close())

  const fill = async (clientId: string, count = FILES) => {
    for (let number = 1; number <= count; number += 1)
      await storage.store(textKey(number), { clientId, indexed: false })
  }
  const filesOf = async (clientId: string) => (await storage.index.totals(clientId)).stored.files
  /** How often each record was looked for. */
  const reads = (clientId: string) => {
    const counts = new Map<string, number>()
    for (const call of storage.bucketOf(clientId).calls)
      if (call.startsWith('find .sluice/meta/')) counts.set(call, (counts.get(call) ?? 0) + 1)
    return counts
  }
  const endOf = ({ log }: ReturnType<ComparedStorage['start']>) =>
    log.lines.filter(({ message }) => message === 'compared the index with all files')

  /** The store loses the entries of the first files. */
  async function forgetFiles(count: number): Promise<void> {
    for (let number = 1; number <= count; number += 1) {
      const ref = { clientId: 'a', key: textKey(number) }
      await storage.index.beginRemoval(ref, { cause: 'purge', leaseUntil: 0, now: 0 })
      await storage.index.finishRemoval(ref, 1)
    }
  }

  it('share the ranges, and each file is read once', async () => {
    await fill('a')
    const locks = inProcessLocks()
    const [first, second] = [storage.start({ locks }), storage.start({ locks })]
    const { calls } = storage.bucketOf('a')
    const held = deferred<void>()
    let holding = ''
    // One process stops at the first file that it reads, until the other one has read all other ranges.
    storage.bucketOf('a').before = async (call) => {
      if (holding !== '' || !call.startsWith('find')) return
      holding = call
      await held.promise
    }
    const both = Promise.all([first.completion.complete(signal), second.completion.complete(signal)])
    await eventually(async () => expect(await filesOf('a')).to.be.at.least(40))
    expect(await storage.isCompared()).to.equal(false)
    held.resolve()
    await both
    expect(await storage.isCompared()).to.equal(true)
    expect(await filesOf('a')).to.equal(FILES)
    expect([...reads('a').values()].every((count) => count === 1)).to.equal(true)
    // In each of the two passes, at most one for each process and two for ranges that do not follow the last one.
    expect(calls.filter((call) => call.startsWith('list .sluice')).length).to.be.at.most(8)
    const ends = [...endOf(first), ...endOf(second)]
    expect(ends.map(({ fields }) => [fields.files, fields.added])).to.deep.equal([[FILES, FILES]])
  })

  it('continue after one of them has died, and count no file and no finding twice', async () => {
    await storage.index.markComplete()
    await fill('a')
    await fill('b', 5)
    const broken = [textKey(2), textKey(28)]
    for (const key of broken) storage.bucketOf('a').objects.set(recordKey(key), Buffer.from('{'))
    const dead = storage.start()
    const bucket = storage.bucketOf('a')
    const [stopped, released] = [deferred<void>(), deferred<void>()]
    // In the second range, and behind a batch of it.
    bucket.before = (call) => {
      if (call !== `find ${recordKey(textKey(27))}`) return
      stopped.resolve()
      return released.promise
    }
    const frozen = dead.completion.complete(signal)
    await stopped.promise
    bucket.before = () => {}
    bucket.calls.length = 0
    const other = storage.start()
    await other.completion.complete(signal)
    expect(await storage.isCompared()).to.equal(true)
    expect([await filesOf('a'), await filesOf('b')]).to.deep.equal([FILES - 2, 5])
    expect(endOf(other).map(({ fields }) => fields.files)).to.deep.equal([FILES + 5])
    // Neither the first range is read again, nor the first batch of the second one.
    const again = [...Array(24).keys()].filter((i) => reads('a').has(`find ${recordKey(textKey(i + 1))}`))
    expect(again).to.deep.equal([])
    // It was only frozen, and now ends its batch, which the other process has reported.
    released.resolve()
    await frozen
    const findings = [dead, other].flatMap(({ log }) => log.lines.filter(({ level }) => level === 'warn'))
    expect(findings.map(({ fields }) => fields.key)).to.deep.equal(broken.map(recordKey))
  })

  it('take no keys twice when one of them has lost its lock while it listed them', async () => {
    await fill('a')
    const bucket = storage.bucketOf('a')
    const [listing, listed, reading, readOn] = [
      deferred<void>(),
      deferred<void>(),
      deferred<void>(),
      deferred<void>(),
    ]
    bucket.before = async (call) => {
      if (call.startsWith('list ')) {
        listing.resolve()
        await listed.promise
      }
      if (call === `find ${recordKey(textKey(50))}`) {
        reading.resolve()
        await readOn.promise
      }
    }
    const locks = inProcessLocks()
    const lost = inProcessLocks()
    const [frozen, other] = [
      storage.start({
        batchKeys: 4,
        locks: {
          share: (name, ...more) => (name.endsWith('next range') ? lost : locks).share(name, ...more),
        },
      }),
      storage.start({ locks, batchKeys: 4 }),
    ]
    const first = frozen.completion.complete(signal)
    await listing.promise
    const held = bucket.before
    bucket.before = (call) => (call.startsWith('list ') ? undefined : held(call))
    const second = other.completion.complete(signal)
    await reading.promise
    listed.resolve()
    // The range of the last files, which it takes after the other one's.
    await eventually(async () => expect(reads('a').has(`find ${recordKey(textKey(80))}`)).to.equal(true))
    readOn.resolve()
    await Promise.all([first, second])
    expect(Math.max(...reads('a').values())).to.equal(1)
    expect([...endOf(frozen), ...endOf(other)].map(({ fields }) => fields.files)).to.include(FILES)
  })

  it('continue the range of one that has lost its connection to Redis', async () => {
    await fill('a')
    const { url } = await sharedRedis()
    const keyPrefix = newKeyPrefix()
    const connect = async () => {
      const redis = connectRedis({ url })
      await redis.ready()
      return { redis, locks: redisLocks(redis, { keyPrefix, leaseMs: 500 }) }
    }
    const [lost, alive] = [await connect(), await connect()]
    const bucket = storage.bucketOf('a')
    const [reading, released] = [deferred<void>(), deferred<void>()]
    bucket.before = (call) => {
      if (call !== `find ${recordKey(textKey(27))}`) return
      reading.resolve()
      return released.promise
    }
    const [first, second] = [storage.start({ locks: lost.locks }), storage.start({ locks: alive.locks })]
    const frozen = first.completion.complete(signal).then(
      () => 'ended',
      () => 'failed',
    )
    await reading.promise
    bucket.before = () => {}
    lost.redis.client.disconnect()
    await second.completion.complete(signal)
    expect(await storage.isCompared()).to.equal(true)
    released.resolve()
    expect(await frozen).to.equal('failed')
    expect(await filesOf('a')).to.equal(FILES)
    const ends = [...endOf(first), ...endOf(second)]
    expect(ends.map(({ fields }) => fields.files)).to.deep.equal([FILES])
    for (const { redis, locks } of [lost, alive]) {
      await locks.close()
      await redis.close()
    }
  })

  it('do not fail because one of them fails in a range that another one waits for', async () => {
    await fill('a', 30)
    const bucket = storage.bucketOf('a')
    const [reading, waiting] = [deferred<void>(), deferred<void>()]
    bucket.before = async (call) => {
      if (call !== `find ${recordKey(textKey(27))}`) return
      bucket.before = () => {}
      reading.resolve()
      await waiting.promise
      throw unavailable('The bucket is down.')
    }
    const locks = inProcessLocks()
    const first = rejection(storage.start({ locks }).completion.complete(signal))
    await reading.promise
    const taken = (await storage.rangesLeft()).map((id) => `index comparison: ${id}`)
    const second = storage.start({
      locks: {
        share(name, ...more) {
          if (taken.includes(name)) waiting.resolve()
          return locks.share(name, ...more)
        },
      },
    })
    await second.completion.complete(signal)
    expect(await first).to.have.property('status', 503)
    expect(await storage.isCompared()).to.equal(true)
    expect(await filesOf('a')).to.equal(30)
  })

  it('make lists complete before they read derivatives', async () => {
    await fill('a', 5)
    const derivative = derivativeKey(textKey(2), 'w=1')
    const bucket = storage.bucketOf('a')
    bucket.objects.set(derivative, Buffer.from('x'))
    const complete: Array<[string, boolean]> = []
    bucket.before = async (call) => {
      if (call === `find ${recordKey(textKey(5))}` || call === `find ${derivative}`)
        complete.push([call, await storage.index.isComplete()])
    }
    await storage.start().completion.complete(signal)
    expect(complete).to.deep.equal([
      [`find ${recordKey(textKey(5))}`, false],
      [`find ${derivative}`, true],
    ])
  })

  it('name the client whose bucket is unavailable, and continue there', async () => {
    await fill('a', 30)
    await fill('b', 30)
    const bucket = storage.bucketOf('b')
    bucket.before = (call) => {
      if (call === `find ${recordKey(textKey(25))}`) throw unavailable('The bucket is down.')
    }
    const first = storage.start()
    expect(await rejection(first.completion.complete(signal))).to.have.property(
      'message',
      'files of the client b: The bucket is down.',
    )
    // All batches before it.
    expect(first.completion.state()).to.deep.equal({ files: 30 + 24 })
    bucket.before = () => {}
    storage.bucketOf('a').calls.length = 0
    const second = storage.start()
    await second.completion.complete(signal)
    expect([...reads('a')]).to.deep.equal([])
    expect(endOf(second).map(({ fields }) => fields.files)).to.deep.equal([60])
    expect(second.completion.state()).to.equal(undefined)
    expect(second.log.lines[0]).to.deep.include({
      message: 'the comparison of the index with all files continues',
      fields: { files: 54 },
    })
  })

  it('count the folders of no client again that were counted before a failure', async () => {
    await fill('a', 1)
    await fill('b', 1)
    let isDown = true
    const counted: string[] = []
    storage.wrapIndex(({ recount }) => ({
      async recount(clientId, options) {
        if (isDown && clientId === 'b') throw unavailable('Redis is down.')
        counted.push(clientId)
        return recount(clientId, options)
      },
    }))
    await rejection(storage.start().completion.complete(signal))
    isDown = false
    await storage.start().completion.complete(signal)
    // In the first pass, then in the second one.
    expect(counted).to.deep.equal(['a', 'b', 'a', 'b'])
  })

  it('state how many files there are, when the index has lost none of its lists', async () => {
    await fill('a', 30)
    await fill('b', 3)
    await storage.start().completion.complete(signal)
    storage.restart()
    const second = storage.start()
    let stated: unknown
    storage.bucketOf('b').before = () => {
      stated ??= second.completion.state()
    }
    await second.completion.complete(signal)
    expect(stated).to.deep.equal({ files: 30, total: 33 })
    expect(second.completion.state()).to.equal(undefined)
  })

  it('begin again in another run of the store, which has lost its entries', async () => {
    await fill('a', 30)
    const bucket = storage.bucketOf('a')
    bucket.before = (call) => {
      if (call === `find ${recordKey(textKey(25))}`) throw unavailable('The bucket is down.')
    }
    await rejection(storage.start().completion.complete(signal))
    await forgetFiles(30)
    storage.restart()
    bucket.before = () => {}
    bucket.calls.length = 0
    const second = storage.start()
    await second.completion.complete(signal)
    expect(endOf(second).map(({ fields }) => fields.files)).to.deep.equal([30])
    expect([reads('a').size, await filesOf('a')]).to.deep.equal([30, 30])
  })

  it('begin again when the store is restarted during the comparison', async () => {
    await fill('a', 50)
    let restarted = false
    storage.bucketOf('a').before = async (call) => {
      if (restarted || call !== `find ${recordKey(textKey(30))}`) return
      restarted = true
      await forgetFiles(20)
      storage.restart()
    }
    const process = storage.start()
    await process.completion.complete(signal)
    expect(await storage.isCompared()).to.equal(true)
    expect(endOf(process).map(({ fields }) => fields.files)).to.deep.equal([50])
    expect(await filesOf('a')).to.equal(50)
  })

  for (const isNamed of [true, false])
    it(`begin again when the store is emptied at the end of a pass, runs ${isNamed ? 'with' : 'without'} names`, async () => {
      await fill('a', 10)
      if (!isNamed) storage.hideRuns()
      let isEmptied = false
      storage.wrapIndex(({ recount }) => ({
        async recount(clientId, options) {
          if (!isEmptied) await storage.empty()
          isEmptied = true
          return recount(clientId, options)
        },
      }))
      await storage.start().completion.complete(signal)
      expect([await storage.index.isComplete(), await filesOf('a')]).to.deep.equal([true, 10])
    })

  it('do not divide the objects of a file between batches', async () => {
    const names = Array.from({ length: 60 }, (_, i) => `w=${i}`)
    for (const number of [1, 2]) {
      const derivatives = names.map((name) => derivativeKey(textKey(number), name))
      await storage.store(textKey(number), { clientId: 'a', derivatives })
    }
    const process = storage.start()
    await process.completion.complete(signal)
    expect(endOf(process).map(({ fields }) => fields.files)).to.deep.equal([2])
    storage.restart()
    storage.bucketOf('a').calls.length = 0
    await storage.start().completion.complete(signal)
    expect(storage.bucketOf('a').calls.filter((call) => call.startsWith('find'))).to.deep.equal([])
  })

  it('end with a client that was removed in the meantime', async () => {
    await fill('a', 30)
    const bucket = storage.bucketOf('a')
    bucket.before = (call) => {
      if (call === `find ${recordKey(textKey(25))}`) throw unavailable('The bucket is down.')
    }
    await rejection(storage.start().completion.complete(signal))
    bucket.before = () => {}
    storage.remove('a')
    await storage.start().completion.complete(signal)
    expect(await storage.isCompared()).to.equal(true)
  })
})
