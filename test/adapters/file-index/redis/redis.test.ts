import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { prefixOf } from '../../../../src/adapters/file-index/redis/keys.ts'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import { dataKey, setMarks } from '../../../../src/adapters/file-index/redis/run.ts'
import { connectRedis, type RedisConnection } from '../../../../src/adapters/redis/connection.ts'
import type { FileRef } from '../../../../src/core/files/file-ref.ts'
import { derivativeKey, type ObjectKey, storedKey } from '../../../../src/core/files/object-key.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import type { Overdue } from '../../../../src/core/ports/index/steps.ts'
import { fileIndexContract } from '../../../contracts/file-index/file-index.ts'
import { seededRandom } from '../../../contracts/random.ts'
import { eventually } from '../../../support/eventually.ts'
import { inTime } from '../../../support/promised.ts'
import { rejection } from '../../../support/rejection.ts'
import {
  newKeyPrefix,
  type RedisServer,
  sharedRedis,
  startRedis,
} from '../../../support/servers/redis-server.ts'
import { everyNth, sized } from '../../../support/sized.ts'
import { failOnUnhandledRejection } from '../../../support/unhandled.ts'
import { type Done, explained, randomSteps, type Step } from '../linear.ts'

const NOW = 1_800_000_000_000
const LATER = NOW + 60_000

const REF = refNamed('a')
const OTHER = refNamed('b')
const W100 = derivativeKey(REF.key, 'w=100')

/** The index as two processes see it. */
async function twoOn(url: string) {
  const keyPrefix = newKeyPrefix()
  const redis = connectRedis({ url })
  const other = connectRedis({ url })
  await Promise.all([redis.ready(), other.ready()])
  return {
    keyPrefix,
    redis,
    index: redisIndex(redis, { keyPrefix }),
    elsewhere: redisIndex(other, { keyPrefix }),
    async close() {
      await Promise.all([redis.close(), other.close()])
    },
  }
}

// In Lua, as many steps as the embedded index in TypeScript: the same ones, by the seed of the contract.
fileIndexContract('redis', async () => twoOn((await sharedRedis()).url), { steps: 10_000 })

describe('redis: the index of two processes', () => {
  let redis: RedisConnection
  let keyPrefix: string
  let index: FileIndex
  let elsewhere: FileIndex
  let close: () => Promise<void>

  beforeEach(async () => {
    const opened = await twoOn((await sharedRedis()).url)
    redis = opened.redis
    keyPrefix = opened.keyPrefix
    index = opened.index
    elsewhere = opened.elsewhere
    close = opened.close
  })
  afterEach(() => close())

  const rounds = sized(6, 40)

  it(`runs 50 concurrent steps in some serial order, ${rounds} times`, async () => {
    for (let round = 0; round < rounds; round += 1) {
      const random = seededRandom(round)
      // With ids of their own: a lookup of one with a long name takes two steps.
      const refs = ['a', 'b'].map((name) => {
        const ref = refNamed(`${round}-${name}`)
        return { ...ref, key: storedKey(ref.key.replace('7uLq', `${name}u${11 + round}`.replace('0', 'x'))) }
      })
      /** @returns the steps in the order in which they were sent */
      const send = async (to: FileIndex): Promise<Done[]> => {
        const sent: Done[] = []
        const send = async (step: Step, i: number) => {
          // In bursts, so that those of the other connection come between.
          await pause(Math.floor(i / 5))
          const done: Done = { step, answer: undefined }
          sent.push(done)
          done.answer = await step.on(to)
        }
        await Promise.all(randomSteps(refs, { count: 25, random }).map(send))
        return sent
      }
      const done = await Promise.all([send(index), send(elsewhere)])
      const story = done.map((each) =>
        each.map(({ step, answer }) => `${step.name}: ${JSON.stringify(answer)}`).join('\n'),
      )
      expect(explained(refs, ...done), `round ${round}\n${story.join('\n\n')}`).to.equal(50)
    }
  })

  it('gives each overdue original to one of two concurrent sweeps', async () => {
    const refs = Array.from({ length: 100 }, (_, i) => refNamed(`sweep-${i}`))
    for (const ref of refs) await index.beginUpload(ref, NOW)
    const sweep = async (of: FileIndex) => {
      const taken: string[] = []
      for await (const { ref } of of.overdue(NOW)) {
        if (await of.beginRemoval(ref, { cause: 'sweep', leaseUntil: LATER, now: NOW })) taken.push(ref.key)
        await of.finishRemoval(ref, NOW)
      }
      return taken
    }
    const [one, other] = await Promise.all([sweep(index), sweep(elsewhere)])
    expect([...(one ?? []), ...(other ?? [])].sort()).to.deep.equal(refs.map(({ key }) => key).sort())
    expect(await overdue(index, LATER)).to.deep.equal([])
  })

  it('gives work of a dead process to others when its lease expires, not before', async () => {
    await index.beginUpload(REF, LATER)
    redis.client.disconnect()
    expect(await overdue(elsewhere, LATER - 1)).to.deep.equal([])
    expect(await overdue(elsewhere, LATER)).to.deep.equal([{ kind: 'original', ref: REF }])
  })

  it('finds an original and a derivative in one round trip', async () => {
    await index.adopt(REF.clientId, recordOf(REF))
    await index.finishDerivative(REF, { key: W100, mediaType: 'image/webp', size: 3 })
    const sent: string[] = []
    const monitor = await redis.client.monitor()
    monitor.on('monitor', (_time: string, [command = '']: string[]) => sent.push(command))
    await index.find(REF, W100)
    await index.find(REF)
    await eventually(() => expect(sent).to.deep.equal(['hmget', 'hmget']))
    monitor.disconnect()
  })

  it('reads files between two keys by one command for all of them', async () => {
    const refs = Array.from({ length: 20 }, (_, i) => refNamed(`a/${i}`))
    for (const ref of refs) await index.adopt(ref.clientId, recordOf(ref))
    const between = () => index.filesBetween(REF.clientId, { after: '', limit: 99 })
    // The scripts are sent in full once.
    await between()
    const sent: string[] = []
    const monitor = await redis.client.monitor()
    monitor.on('monitor', (_time: string, [command = '']: string[], source: string) => {
      if (source !== 'lua') sent.push(command.toLowerCase())
    })
    const { files } = await between()
    await redis.client.echo('end')
    await eventually(() => expect(sent).to.include('echo')).finally(() => monitor.disconnect())
    expect(files.map(({ ref }) => ref)).to.have.deep.members(refs)
    // The members of both lists, the files with a short name, and those of the same id with a long one.
    expect(sent).to.deep.equal([...Array(4).fill('evalsha'), 'echo'])
  })

  it('continues when Redis has lost its scripts', async () => {
    for (const ref of [REF, OTHER]) {
      await index.adopt(ref.clientId, recordOf(ref))
      await redis.client.script('FLUSH')
      expect((await elsewhere.adopt(ref.clientId, recordOf(ref))).state).to.equal('stored')
    }
  })

  it('lists originals that are missing in the lists when they are adopted', async () => {
    const record = recordOf(REF)
    await index.adopt(REF.clientId, record)
    const kept = await redis.client.keys(`${keyPrefix}2:f:*`)
    for (const key of await redis.client.keys(`${keyPrefix}*`))
      if (!kept.includes(key)) await redis.client.del(key)
    const page = () => elsewhere.page(REF.clientId, { state: 'stored', by: 'storedAt', limit: 9 })
    expect((await page()).files).to.deep.equal([])
    for (const _ of [1, 2]) await index.adopt(REF.clientId, { ...record, size: 2 })
    expect((await page()).files.map((file) => file.record)).to.deep.equal([record])
    expect((await index.totals(REF.clientId)).stored).to.deep.equal({ files: 1, bytes: record.size })
  })

  it('sets no marks in an index that was emptied in the meantime', async () => {
    const { data } = await index.run()
    await redis.client.del(dataKey(prefixOf(keyPrefix)))
    await setMarks(redis, [dataKey(prefixOf(keyPrefix)), `${keyPrefix}mark`], [data])
    expect(await redis.client.exists(`${keyPrefix}mark`)).to.equal(0)
  })

  it('counts folders again while other files are added', async () => {
    const refs = Array.from({ length: 1200 }, (_, i) => refNamed(`f${i % 3}/g`))
    const keys = refs.map(({ key }, i) =>
      storedKey(key.replace('7uLqEUXG', `${10_000 + i}`.slice(1).replaceAll('0', 'x').padEnd(8, 'y'))),
    )
    await Promise.all(keys.map((key) => index.adopt(REF.clientId, recordOf({ ...REF, key }))))
    const counts = await redis.client.keys(`${keyPrefix}*folders:*`)
    expect(counts).to.have.length(2)
    await redis.client.del(...counts)
    // Some of them before the position up to which the recount has read.
    const addOneByOne = async () => {
      for (let i = 10; i < 40; i += 1)
        await index.adopt(REF.clientId, recordOf(refNamed(i % 2 ? `a/${i}` : `z/${i}`)))
    }
    const [wrong] = await Promise.all([elsewhere.recount(REF.clientId, { repair: true }), addOneByOne()])
    expect(wrong).to.not.be.empty
    const { folders } = await index.subfolders(REF.clientId, { parent: '', limit: 9 })
    expect(folders.map(({ folder, files }) => `${folder} ${files}`)).to.deep.equal([
      'a 15',
      'f0 400',
      'f1 400',
      'f2 400',
      'z 15',
    ])
    expect(await index.recount(REF.clientId, { repair: false })).to.deep.equal([])
  })

  it('lets a recount continue after the process of another one has died', async () => {
    await index.adopt(REF.clientId, recordOf(REF))
    const key = `${keyPrefix}2:recount:first/`
    await redis.client.hset(key, 'run', 'of a dead process')
    await redis.client.pexpire(key, 300)
    expect(await index.recount(REF.clientId, { repair: false })).to.deep.equal([])
  })

  it('leaves no key when everything is deleted', async () => {
    await index.beginUpload(REF, NOW)
    await index.beginUpload(OTHER, NOW)
    await index.finishUpload(REF.clientId, [recordOf(REF)])
    await index.beginDerivative(REF, W100, NOW)
    await index.finishDerivative(REF, { key: W100, mediaType: 'image/webp', size: 3 })
    await index.beginDerivative(REF, derivativeKey(REF.key, 'w=200'), LATER)
    await index.beginRemoval(REF, { cause: 'delete', leaseUntil: LATER, now: NOW })
    await index.finishRemoval(REF, NOW)
    await index.dropDerivative(REF, derivativeKey(REF.key, 'w=200'), LATER)
    await index.beginRemoval(OTHER, { cause: 'abandon', leaseUntil: LATER, now: NOW })
    await index.finishRemoval(OTHER, NOW)
    await index.tidy({ most: 99 })
    expect(await redis.client.keys(`${keyPrefix}*`)).to.deep.equal([])
  })

  it('returns each of thousands of overdue entries once, many with the same deadline, while they are finished', async () => {
    const refs = Array.from({ length: 3500 }, (_, i) => refNamed(`many-${i}`))
    // 2500 of them at one instant: more than two pages.
    const due = (i: number) => (i < 2500 ? NOW : NOW + i)
    for (let from = 0; from < refs.length; from += 500) {
      const some = refs.slice(from, from + 500)
      await Promise.all(some.map((ref, i) => index.beginUpload(ref, due(from + i))))
    }
    const seen: string[] = []
    for await (const { ref } of elsewhere.overdue(NOW + 3000)) {
      seen.push(ref.key)
      // Every third stays, as one that fails.
      if (seen.length % 3 === 0) continue
      await index.beginRemoval(ref, { cause: 'abandon', leaseUntil: LATER, now: NOW })
      await index.finishRemoval(ref, NOW)
    }
    const expected = refs.filter((_, i) => due(i) <= NOW + 3000).map(({ key }) => key)
    expect(seen.length).to.equal(new Set(seen).size)
    expect(seen.sort()).to.deep.equal(expected.sort())
  })

  it('returns a tombstone earlier when the last of its deadlines is dropped', async () => {
    await index.adopt(REF.clientId, recordOf(REF))
    const [early, late] = ['early', 'late'].map((name) => derivativeKey(REF.key, name)) as [
      ObjectKey,
      ObjectKey,
    ]
    await index.beginDerivative(REF, early, NOW + 10)
    await index.beginDerivative(REF, late, NOW + 30)
    await index.beginRemoval(REF, { cause: 'delete', leaseUntil: LATER, now: NOW })
    await index.finishRemoval(REF, NOW)
    expect(await overdue(index, NOW + 29)).to.deep.equal([])
    await index.dropDerivative(REF, late, LATER)
    expect(await overdue(index, NOW + 9)).to.deep.equal([])
    expect(await overdue(index, NOW + 10)).to.deep.equal([{ kind: 'original', ref: REF }])
  })

  it('stores times and sizes without rounding', async () => {
    const instant = NOW + 0.12109375
    await index.beginUpload(REF, instant)
    expect(await elsewhere.find(REF)).to.deep.equal({ original: { state: 'pending', leaseUntil: instant } })
    expect(await overdue(index, instant - 0.001)).to.deep.equal([])
    expect(await overdue(index, instant)).to.have.length(1)
    const size = Number.MAX_SAFE_INTEGER
    await index.adopt(OTHER.clientId, { ...recordOf(OTHER), size })
    const derivative = derivativeKey(OTHER.key, 'w=1')
    await index.beginDerivative(OTHER, derivative, instant)
    await index.beginRemoval(OTHER, { cause: 'delete', leaseUntil: NOW, now: NOW })
    await index.finishRemoval(OTHER, NOW)
    expect(await index.find(OTHER, derivative)).to.deep.equal({
      original: { state: 'gone' },
      derivative: { state: 'pending', deadline: instant },
    })
    expect(await overdue(index, instant - 0.001)).to.deep.equal([])
    expect(await overdue(index, instant)).to.have.length(2)
  })
})

describe('redis: the index while Redis is down', () => {
  failOnUnhandledRejection()
  let server: RedisServer
  let redis: RedisConnection
  let index: FileIndex

  async function start(options: { appendOnly: boolean }): Promise<void> {
    server = await startRedis({ ...options, fails: true })
    redis = connectRedis({ url: server.url })
    await redis.ready()
    index = redisIndex(redis, { keyPrefix: newKeyPrefix() })
  }
  afterEach(async () => {
    await redis.close()
    await server.remove()
  })

  const steps: Record<string, () => Promise<unknown>> = {
    find: () => index.find(REF, W100),
    beginUpload: () => index.beginUpload(REF, LATER),
    renewUpload: () => index.renewUpload([REF], LATER),
    finishUpload: () => index.finishUpload(REF.clientId, [recordOf(REF)]),
    adopt: () => index.adopt(REF.clientId, recordOf(REF)),
    amend: () => index.amend(REF.clientId, recordOf(REF), recordOf(REF)),
    beginDerivative: () => index.beginDerivative(REF, W100, LATER),
    finishDerivative: () => index.finishDerivative(REF, { key: W100, mediaType: 'image/webp', size: 3 }),
    dropDerivative: () => index.dropDerivative(REF, W100, LATER),
    beginRemoval: () => index.beginRemoval(REF, { cause: 'delete', leaseUntil: LATER, now: NOW }),
    finishRemoval: () => index.finishRemoval(REF, NOW),
    overdue: () => overdue(index, NOW),
    ping: () => index.ping(),
  }

  for (const how of everyNth(2, ['freeze', 'stop'] as const)) {
    it(`fails with 503 in time, for every operation (${how})`, async () => {
      await start({ appendOnly: false })
      await index.ping()
      await server[how]()
      // All at once, then each again.
      const all = Object.values(steps).map((step) => rejection(step()))
      for (const failure of await inTime('all', Promise.all(all)))
        expect(failure).to.include({ status: 503, code: 'unavailable' })
      for (const [name, step] of Object.entries(steps)) {
        const failure = (await inTime(name, rejection(step()))) as Error
        expect(failure, name).to.include({ status: 503, code: 'unavailable' })
        expect(failure.cause).to.be.instanceOf(Error)
      }
    })
  }

  it('fails the ping while Redis refuses writes: when full, or as a replica', async () => {
    await start({ appendOnly: false })
    await redis.client.config('SET', 'maxmemory', '1')
    expect(await rejection(index.ping())).to.include({ status: 503 })
    await redis.client.config('SET', 'maxmemory', '0')
    await index.ping()
    await redis.client.replicaof('127.0.0.1', 1)
    expect(await rejection(index.ping())).to.include({ status: 503 })
  })

  it('ends abandoned uploads and deletes while it is full', async () => {
    await start({ appendOnly: false })
    await index.adopt(REF.clientId, recordOf(REF))
    await index.beginDerivative(REF, W100, LATER)
    await index.beginUpload(OTHER, NOW)
    await index.beginRemoval(REF, { cause: 'delete', leaseUntil: NOW, now: NOW })
    await redis.client.config('SET', 'maxmemory', '1')
    for (const ref of [REF, OTHER]) {
      expect(await index.beginRemoval(ref, { cause: 'sweep', leaseUntil: NOW + 1, now: NOW })).to.be.an(
        'array',
      )
      expect(await index.finishRemoval(ref, NOW + 1)).to.equal(true)
    }
    // A tombstone, because of its pending derivative.
    await index.beginRemoval(REF, { cause: 'sweep', leaseUntil: LATER, now: LATER })
    expect(await index.finishRemoval(REF, LATER)).to.equal(true)
    expect((await index.find(REF)).original).to.equal(undefined)
  })

  it('has every entry when a Redis with persistence comes back', async () => {
    await start({ appendOnly: true })
    await index.adopt(REF.clientId, recordOf(REF))
    await index.beginDerivative(REF, W100, NOW)
    await index.beginUpload(OTHER, LATER)
    await server.stop()
    await server.start()
    await redis.ready()
    expect(await index.find(REF, W100)).to.deep.equal({
      original: { state: 'stored', record: recordOf(REF) },
      derivative: { state: 'pending', deadline: NOW },
    })
    expect(await index.find(OTHER)).to.deep.equal({ original: { state: 'pending', leaseUntil: LATER } })
    expect(await overdue(index, NOW)).to.deep.equal([
      { kind: 'derivative', ref: REF, derivative: W100, deadline: NOW },
    ])
  })

  it('lets no interrupted step finish, and indexes all files again, when Redis comes back empty', async () => {
    await start({ appendOnly: false })
    await index.adopt(REF.clientId, recordOf(REF))
    await index.beginDerivative(REF, W100, LATER)
    await index.beginUpload(OTHER, LATER)
    await server.stop()
    await server.start()
    await redis.ready()
    expect(await index.find(REF, W100)).to.deep.equal({})
    await index.renewUpload([OTHER], LATER)
    expect(await index.finishUpload(OTHER.clientId, [recordOf(OTHER)])).to.equal(false)
    expect(await index.finishDerivative(REF, { key: W100, mediaType: 'image/webp', size: 3 })).to.equal(false)
    expect(await index.adopt(REF.clientId, recordOf(REF))).to.deep.equal({
      state: 'stored',
      record: recordOf(REF),
    })
    expect(await index.finishDerivative(REF, { key: W100, mediaType: 'image/webp', size: 3 })).to.equal(true)
    expect(await overdue(index, LATER)).to.deep.equal([])
  })

  it('runs the steps of one process in the order in which they were sent, though Redis has lost most scripts', async () => {
    await start({ appendOnly: false })
    await index.beginUpload(OTHER, LATER)
    const answers = [
      index.beginUpload(REF, LATER),
      index.finishUpload(REF.clientId, [recordOf(REF)]),
      index.beginDerivative(REF, W100, LATER),
      index.beginRemoval(REF, { cause: 'delete', leaseUntil: LATER, now: NOW }),
      index.finishRemoval(REF, NOW),
      index.dropDerivative(REF, W100, LATER),
      index.beginUpload(REF, LATER),
      index.beginRemoval(REF, { cause: 'abandon', leaseUntil: LATER, now: NOW }),
      index.finishRemoval(REF, NOW),
      index.find(REF),
    ]
    expect(await Promise.all(answers)).to.deep.equal([
      ...[undefined, true, 'begun', [W100], true, undefined],
      ...[undefined, [], true, {}],
    ])
  })

  it('may run a step after its caller got a 503; the sweep finishes it', async () => {
    await start({ appendOnly: false })
    // Now Redis knows the script.
    await index.beginUpload(OTHER, LATER)
    server.freeze()
    expect(await rejection(index.beginUpload(REF, NOW))).to.include({ status: 503 })
    server.thaw()
    await redis.ready()
    await eventually(async () => expect(await index.find(REF)).to.have.property('original'))
    expect(await overdue(index, NOW)).to.deep.equal([{ kind: 'original', ref: REF }])
    expect(await index.beginRemoval(REF, { cause: 'sweep', leaseUntil: LATER, now: NOW })).to.deep.equal([])
    await index.finishRemoval(REF, NOW)
    expect(await index.find(REF)).to.deep.equal({})
  })
})

function refNamed(folder: string): FileRef {
  return { clientId: 'first', key: storedKey(`${folder}/image/png/7uLqEUXG4WpoGGa38h2U9Z.png`) }
}

function recordOf({ key }: FileRef) {
  return { key, originalName: 'a.png', mediaType: 'image/png', size: 1, sha256: '00', storedAt: NOW }
}

async function overdue(index: FileIndex, now: number): Promise<Overdue[]> {
  const items: Overdue[] = []
  for await (const item of index.overdue(now)) items.push(item)
  return items
}
