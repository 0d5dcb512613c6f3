import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { ORDERS, positionOf } from '../../../../src/adapters/file-index/positions.ts'
import { LEAF_MAX } from '../../../../src/adapters/file-index/redis/lists/tree-changes.ts'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis, type RedisConnection } from '../../../../src/adapters/redis/connection.ts'
import { newFileId, type ObjectKey, storedKey } from '../../../../src/core/files/object-key.ts'
import type { FileIndex, OriginalRecord } from '../../../../src/core/ports/file-index.ts'
import type { ListedState } from '../../../../src/core/ports/index/listed-state.ts'
import { seededRandom } from '../../../contracts/random.ts'
import { rejection } from '../../../support/rejection.ts'
import { newKeyPrefix, sharedRedis, startRedis } from '../../../support/servers/redis-server.ts'
import { sized } from '../../../support/sized.ts'

const NOW = 1_800_000_000_000
const LATER = NOW + 60_000
const CLIENT = 'first'
const LIST = `list:${CLIENT}/stored:`
const { signal } = new AbortController()

describe('redis: the lists of the index', () => {
  let redis: RedisConnection
  let keyPrefix: string
  let index: FileIndex

  before(async () => {
    redis = connectRedis({ url: (await sharedRedis()).url })
    await redis.ready()
  })
  after(() => redis.close())
  beforeEach(() => {
    keyPrefix = newKeyPrefix()
    index = redisIndex(redis, { keyPrefix })
  })

  const names = async () =>
    (await redis.client.keys(`${keyPrefix}*`)).map((name) => name.slice(keyPrefix.length)).sort()
  const add = async (more: Partial<OriginalRecord> = {}) => {
    const record = recordOf(more)
    await index.adopt(CLIENT, record)
    return record
  }

  /** Compares all lists with these records, in pages of any size. */
  async function compare(records: readonly OriginalRecord[], limit = 37, state: ListedState = 'stored') {
    for (const by of ORDERS)
      for (const direction of ['up', 'down'] as const) {
        const expected = records.map((record) => positionOf(record, by)).sort(inBytes)
        if (direction === 'down') expected.reverse()
        const found: string[] = []
        for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
          const page = await index.page(CLIENT, {
            ...{ state, by, direction, limit },
            ...(after === undefined ? {} : { after }),
          })
          found.push(...page.files.map(({ position }) => position))
          after = page.next
        }
        const at = found.findIndex((position, i) => position !== expected[i])
        expect([found.length, found[at]], `${by} ${direction} ${at}`).to.deep.equal([
          expected.length,
          expected[at],
        ])
      }
  }

  /** Sets an index as version 1.0 has it: all originals are in the lists themselves, and their totals in a hash. */
  async function asFormer(records: readonly OriginalRecord[]): Promise<void> {
    for (const record of records)
      for (const by of ORDERS) await redis.client.zadd(`${keyPrefix}${LIST}${by}`, 0, positionOf(record, by))
    await redis.client.hset(`${keyPrefix}totals:${CLIENT}/`, {
      'stored files': records.length,
      'stored bytes': records.reduce((sum, { size }) => sum + size, 0),
    })
    await redis.client.mset(`${keyPrefix}complete`, 1, `${keyPrefix}counted`, 1)
  }
  const dropTrees = async () => {
    const found = await redis.client.keysBuffer(`${keyPrefix}list:*`)
    if (found.length > 0) await redis.client.del(...found)
    await redis.client.del(`${keyPrefix}layout`, `${keyPrefix}complete:2`, `${keyPrefix}counted:2`)
  }
  const plain = async () => (await names()).filter((name) => /^list:[^:]*:[a-zA-Z0-9]+$/.test(name))

  it('sort as LevelDB does, whatever the keys, names and numbers, while files are added, renamed and deleted', async function () {
    this.timeout(240_000)
    const random = seededRandom(7)
    const files = new Map<ObjectKey, OriginalRecord>()
    const folders = ['', 'a/', 'a/b/', 'a!/', 'a0/', '日本/', '🎉/', 'image/png/x/', 'z/'.repeat(9)]
    const formats = ['image/jpeg/*.jpg', 'image/png/*.png', 'application/bin/*.dat', 'text/txt/*.txt']
    const words = ['', 'IMG', 'img', 'é', '\t', '\u0001', 'line\nbreak', '日本'.repeat(20), '🎉', '"\\']
    const newRecord = () => {
      const folder = random.below(3) ? random.oneOf(folders) : `dated/2026-${1000 + random.below(400)}/`
      const key = random.below(30)
        ? `${folder}${random.oneOf(formats).replace('*', newFileId())}`
        : `${folder}${random.oneOf(['x', 'no-id.png', `${newFileId()}`, 'y'.repeat(400)])}${random.below(1e6)}`
      return recordOf({
        key: storedKey(key),
        originalName: `${random.oneOf(words)} ${random.below(9)}${random.below(9) ? '' : 'long'.repeat(60)}`,
        size: random.oneOf([0, 1, 255, 256, 65_536, 2 ** 40 - 1, 2 ** 40, Number.MAX_SAFE_INTEGER]),
        storedAt: random.oneOf([0, 1, NOW, NOW + 0.5, NOW + 1, 2 ** 48 - 1, 2 ** 48]),
        sha256: random.below(9)
          ? digestOf(String(random.below(5)))
          : random.oneOf(['00', '', 'FF'.repeat(32)]),
      })
    }
    const rounds = sized(1200, 12_000)
    for (let round = 0; round < rounds; round += 1) {
      const one = files.size > 0 ? random.oneOf([...files.values()]) : undefined
      const step = random.below(round < rounds / 2 ? 10 : 4)
      if (!one || step > 2) {
        const record = newRecord()
        await index.adopt(CLIENT, record)
        if (!files.has(record.key)) files.set(record.key, record)
      } else if (step === 0) {
        const renamed = { ...one, originalName: newRecord().originalName }
        await index.amend(CLIENT, one, renamed)
        files.set(one.key, renamed)
      } else {
        await remove(index, one.key)
        files.delete(one.key)
      }
      if (round % Math.floor(rounds / 3) === 0) await compare([...files.values()], 1 + random.below(60))
    }
    await compare([...files.values()])
    const { stored } = await index.totals(CLIENT)
    expect(stored.files).to.equal(files.size)
    expect(await index.recount(CLIENT, { repair: false })).to.deep.equal([])
    for (const key of files.keys()) await remove(index, key)
    await index.tidy({ most: 1e6 })
    expect(await names()).to.deep.equal([])
  })

  it('take compact leaves, which are divided and joined', async function () {
    this.timeout(120_000)
    const records = Array.from({ length: 1500 }, (_, i) =>
      recordOf({
        key: keyIn(`folder-${i % 7}/`),
        originalName: `${newFileId()}.png`,
        storedAt: NOW + i,
        size: i,
      }),
    )
    for (const record of records) await index.adopt(CLIENT, record)
    const leaves = async (by: string) => {
      const found = await redis.client.zrangeBuffer(`${keyPrefix}${LIST}${by}:leaves`, '0', '-1')
      const keys = found.map((leaf) => Buffer.concat([Buffer.from(`${keyPrefix}${LIST}${by}/`), leaf]))
      const sizes = await Promise.all(keys.map((key) => redis.client.zcard(key)))
      expect(sizes.every((size) => size > 0 && size <= LEAF_MAX)).to.equal(true)
      for (const key of keys) expect(await redis.client.object('ENCODING', key)).to.equal('listpack')
      return sizes
    }
    // In their order, they fill the leaves.
    expect(await leaves('storedAt')).to.have.length(Math.ceil(1500 / LEAF_MAX))
    expect(await leaves('name')).to.have.length.below(30)
    for (const record of records.filter((_, i) => i % 15 > 0)) await remove(index, record.key)
    for (const by of ORDERS) expect((await leaves(by)).length, by).to.be.below(8)
    await compare(records.filter((_, i) => i % 15 === 0))
  })

  it('leave originals without a label in the list itself', async () => {
    const [first, last] = [await add({ key: keyIn('a/') }), await add({ key: keyIn('c/') })]
    const prefixes = `${keyPrefix}${LIST}key:prefixes`
    await redis.client.zadd(prefixes, 5, 'a/image/png/', 6, 'c/image/png/')
    const between = recordOf({ key: keyIn('b/') })
    await index.adopt(CLIENT, between)
    expect(await redis.client.zrange(`${keyPrefix}${LIST}key`, '0', '-1')).to.deep.equal([between.key])
    await remove(index, between.key)
    expect(await redis.client.exists(`${keyPrefix}${LIST}key`)).to.equal(0)
    expect([first, last]).to.have.length(2)
  })

  it('give thousands of folders labels, also one behind the other', async function () {
    this.timeout(120_000)
    for (const client of ['a', 'z']) await add({ key: keyIn(`${client}/`) })
    const folders = Array.from({ length: sized(300, 3000) }, (_, i) => i)
    for (const i of folders) {
      await add({ key: keyIn(`m/2026-${10_000 + i}/`) })
      await add({ key: keyIn(`n/${10_000 - i}/`) })
      await add({ key: keyIn(`users/${newFileId()}/`) })
    }
    expect(await plain()).to.deep.equal([])
    expect(await redis.client.zcard(`${keyPrefix}${LIST}key:prefixes`)).to.equal(3 * folders.length + 3)
  })

  it('reads the right prefix when a label has another meaning since the last page', async () => {
    const first = await add({ key: keyIn('same/') })
    await compare([first])
    await remove(index, first.key)
    const second = await add({ key: keyIn('other/') })
    await compare([second])
  })

  describe('of version 1.0', () => {
    const some = (length: number) =>
      Array.from({ length }, (_, i) =>
        recordOf({
          key: keyIn(`f${i % 3}/`),
          originalName: `${i % 9}.png`,
          size: i % 4,
          storedAt: NOW + (i % 5),
        }),
      )

    it('are read as they are, while they are converted, and when the conversion was interrupted', async () => {
      const records = [...some(50), recordOf({ originalName: 'long'.repeat(50), size: 2 ** 45 })]
      records.push(recordOf({ key: storedKey('no-id.png') }))
      for (const record of records) await index.adopt(CLIENT, record)
      await dropTrees()
      await asFormer(records)
      await compare(records)
      expect([await index.isComplete(), await index.isCounted()]).to.deep.equal([true, true])
      const closing = new AbortController()
      const process = redisIndex(
        watchedRedis(redis, (name) => {
          if (name === 'zrangebylex') closing.abort(new Error('stopped'))
        }),
        { keyPrefix },
      )
      expect(await rejection(process.upgrade(closing.signal, [CLIENT]))).to.include({ message: 'stopped' })
      expect(await redis.client.zcard(`${keyPrefix}${LIST}key`)).to.equal(32)
      await compare(records)
      // Version 1.0 has no lists that it could trust.
      expect(await redis.client.exists(`${keyPrefix}complete`, `${keyPrefix}counted`)).to.equal(0)
      await redis.client.del(`${keyPrefix}upgrading`)
      await index.upgrade(signal, [CLIENT])
      await compare(records)
      expect(await plain()).to.deep.equal(
        ['key', 'name', 'sha256', 'size', 'storedAt'].map((by) => LIST + by),
      )
      expect(await redis.client.zrange(`${keyPrefix}${LIST}key`, '0', '-1')).to.deep.equal(['no-id.png'])
      expect(await redis.client.hgetall(`${keyPrefix}totals:${CLIENT}/`)).to.deep.equal({
        'stored files': '1',
        'stored bytes': '1',
      })
      expect([await index.isComplete(), await index.isCounted()]).to.deep.equal([true, true])
      expect((await index.totals(CLIENT)).stored.files).to.equal(52)
      expect(await index.recount(CLIENT, { repair: false })).to.deep.equal([])
    })

    it('have files that an older process adds, and lose those that it deletes', async () => {
      const [kept, deleted] = [await add(), await add({ originalName: 'deleted.png' })]
      await index.markComplete()
      await index.upgrade(signal, [CLIENT])
      await redis.client.del(`${keyPrefix}file:${CLIENT}/${deleted.key}`)
      const late = await add({ originalName: 'late.png' })
      await dropTreesOf(late)
      await asFormer([late])
      await compare([kept, late])
    })
    const dropTreesOf = async (record: OriginalRecord) => {
      const text = String(await redis.client.hget(`${keyPrefix}file:${CLIENT}/${record.key}`, ''))
      await remove(index, record.key)
      await redis.client.hset(`${keyPrefix}file:${CLIENT}/${record.key}`, '', text)
    }

    it('replace the trees after a time in which it ran instead of this version', async () => {
      const records = some(200)
      for (const record of records) await index.adopt(CLIENT, record)
      await index.markComplete()
      await index.claimLayout()
      const [deleted, renamed, ...rest] = records as [OriginalRecord, OriginalRecord, ...OriginalRecord[]]
      const after = { ...renamed, originalName: 'after.png' }
      const hash = `${keyPrefix}file:${CLIENT}/`
      await redis.client.del(`${hash}${deleted.key}`)
      const text = String(await redis.client.hget(`${hash}${renamed.key}`, ''))
      await redis.client.hset(`${hash}${renamed.key}`, '', text.replace(renamed.originalName, 'after.png'))
      await asFormer([after, ...rest])
      await index.upgrade(signal, [CLIENT])
      await compare([after, ...rest])
      expect(await plain()).to.deep.equal([])
      for (const by of ORDERS) {
        const leaves = await redis.client.zrangeBuffer(`${keyPrefix}${LIST}${by}:leaves`, '0', '-1')
        const sizes = leaves.map((leaf) =>
          redis.client.zcard(Buffer.concat([Buffer.from(`${keyPrefix}${LIST}${by}/`), leaf])),
        )
        expect(
          (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0),
          by,
        ).to.equal(199)
      }
      expect((await index.totals(CLIENT)).stored.files).to.equal(199)
      expect(await redis.client.exists(`${keyPrefix}reviewing`)).to.equal(0)
    })

    it('lose nothing of the trash', async () => {
      const records = some(30)
      for (const record of records) await index.adopt(CLIENT, record, { at: NOW, until: LATER })
      await dropTrees()
      for (const record of records)
        for (const by of ORDERS)
          await redis.client.zadd(`${keyPrefix}list:${CLIENT}/trashed:${by}`, 0, positionOf(record, by))
      await index.upgrade(signal, [CLIENT])
      expect(await plain()).to.deep.equal([])
      await compare(records, 7, 'trashed')
    })
  })

  it('refuse a layout of a newer version, and remain as they are', async () => {
    await add()
    await redis.client.set(`${keyPrefix}layout`, 3)
    await redis.client.set(`${keyPrefix}complete`, 1)
    const before = await names()
    expect(await rejection(index.claimLayout()))
      .to.have.property('message')
      .that.includes('layout 3')
    expect(await names()).to.deep.equal(before)
    await redis.client.del(`${keyPrefix}layout`)
    await index.claimLayout()
    expect(await redis.client.get(`${keyPrefix}layout`)).to.equal('2')
  })

  it('are converted and freed while Redis is full', async () => {
    const server = await startRedis()
    const full = connectRedis({ url: server.url })
    try {
      await full.ready()
      const inFull = redisIndex(full, { keyPrefix })
      const records = Array.from({ length: 150 }, () => recordOf({}))
      for (const record of records) await inFull.adopt(CLIENT, record)
      const [first, ...others] = records as [OriginalRecord, ...OriginalRecord[]]
      const lists = await full.client.keysBuffer(`${keyPrefix}list:*`)
      await full.client.del(...lists)
      for (const record of records)
        for (const by of ORDERS) await full.client.zadd(`${keyPrefix}${LIST}${by}`, 0, positionOf(record, by))
      await full.client.config('SET', 'maxmemory', '1')
      await inFull.upgrade(signal, [CLIENT])
      expect(await full.client.exists(`${keyPrefix}${LIST}key`)).to.equal(0)
      expect(await rejection(inFull.adopt(CLIENT, recordOf({})))).to.include({ status: 503 })
      for (const { key } of others) await remove(inFull, key)
      const page = await inFull.page(CLIENT, { state: 'stored', by: 'name', limit: 9 })
      expect(page.files.map(({ record }) => record.key)).to.deep.equal([first.key])
    } finally {
      await full.close()
      await server.remove()
    }
  })
})

function keyIn(folder: string): ObjectKey {
  return storedKey(`${folder}image/png/${newFileId()}.png`)
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function recordOf(more: Partial<OriginalRecord>): OriginalRecord {
  const key = more.key ?? keyIn('')
  return {
    ...{ originalName: 'a.png', mediaType: 'image/png', size: 1, sha256: digestOf(key), storedAt: NOW },
    ...more,
    key,
  }
}

function inBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

async function remove(index: FileIndex, key: ObjectKey): Promise<void> {
  const ref = { clientId: CLIENT, key }
  await index.beginRemoval(ref, { cause: 'purge', leaseUntil: NOW, now: NOW })
  await index.finishRemoval(ref, NOW)
}

/** A connection that notifies before it sends a command. */
function watchedRedis(redis: RedisConnection, onCommand: (name: string) => unknown): RedisConnection {
  const client = new Proxy(redis.client, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        onCommand(String(name))
        return value.apply(target, args)
      }
    },
  })
  return { ...redis, send: (command) => redis.send(() => command(client)) }
}
