import { expect } from 'chai'
import { ENTRIES } from '../../../../../src/adapters/file-index/redis/entries/lua.ts'
import { packedListed } from '../../../../../src/adapters/file-index/redis/entries/originals.ts'
import { keyNames } from '../../../../../src/adapters/file-index/redis/keys.ts'
import { LISTING, PLACES } from '../../../../../src/adapters/file-index/redis/lists/lua.ts'
import {
  idIn,
  memberOf,
  type Place,
  placeAt,
  placeNamed,
  withoutId,
} from '../../../../../src/adapters/file-index/redis/lists/places.ts'
import { redisIndex } from '../../../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis, type RedisConnection } from '../../../../../src/adapters/redis/connection.ts'
import { redisScript } from '../../../../../src/adapters/redis/script.ts'
import { newFileId, type ObjectKey, storedKey } from '../../../../../src/core/files/object-key.ts'
import type { FileIndex, OriginalRecord } from '../../../../../src/core/ports/file-index.ts'
import { listed } from '../../../../contracts/file-index/file-index-model.ts'
import { type Random, seededRandom } from '../../../../contracts/random.ts'
import { rejection } from '../../../../support/rejection.ts'
import { newKeyPrefix, sharedRedis, startRedis } from '../../../../support/servers/redis-server.ts'
import { sized } from '../../../../support/sized.ts'

const NOW = 1_800_000_000_000
const LATER = NOW + 60_000
const CLIENT = 'first'
const ORDERS = ['key', 'storedAt', 'sha256', 'name', 'size'] as const
const DEEP = Array.from({ length: 8 }, (_, i) => `${i}`.repeat(24)).join('/')

describe('redis: the lists of the index', () => {
  let redis: RedisConnection
  let keyPrefix: string
  let index: FileIndex

  before(async () => {
    redis = connectRedis({ url: (await sharedRedis()).url })
    await redis.ready()
  })
  beforeEach(() => {
    keyPrefix = newKeyPrefix()
    index = redisIndex(redis, { keyPrefix })
  })
  after(() => redis.close())

  const hashesOf = (key: ObjectKey) => keyNames(keyPrefix).hashesOf({ clientId: CLIENT, key })
  const keysBy = async (by: (typeof ORDERS)[number], more: { limit?: number; state?: 'trashed' } = {}) =>
    (await listed(index, CLIENT, { state: 'stored', by, limit: 100, ...more })).map(
      ({ record }) => record.key,
    )

  async function add(key: ObjectKey, more: Partial<OriginalRecord> = {}): Promise<OriginalRecord> {
    const record = recordOf(key, more)
    await index.adopt(CLIENT, record)
    return record
  }

  it('are without an entry that cannot be read, and its file is an error', async () => {
    const [damaged, other] = [keyOf('a', newFileId()), keyOf('b', newFileId())]
    for (const key of [damaged, other]) await add(key)
    const ref = { clientId: CLIENT, key: damaged }
    await redis.client.hset(hashesOf(damaged)[0], { '': 's', 1: '', 2: '' })
    for (const by of ORDERS) expect(await keysBy(by), by).to.deep.equal([other])
    const all = []
    for await (const file of index.list(CLIENT)) all.push(file.ref.key)
    const { files } = await index.filesBetween(CLIENT, { after: '', limit: 9 })
    const picked = await index.pick(CLIENT, { state: 'stored', by: 'key', keys: [damaged, other] })
    expect([all, files.map((file) => file.ref.key), picked.map(({ record }) => record.key)]).to.deep.equal(
      Array(3).fill([other]),
    )
    for (const reading of [index.find(ref), index.look(ref)])
      expect(String(await rejection(reading))).to.include(`${damaged}: expected an entry of the index`)
  })

  it('have a file with half of a character in its tags, as a bucket may have it, however often it is found', async () => {
    const key = keyOf('a', newFileId())
    const record = await add(key, { tags: ['a\ud800'] })
    await index.enlist(CLIENT, record)
    expect(await index.adopt(CLIENT, record)).to.deep.equal({ state: 'stored', record })
  })

  describe('of two files with one id', () => {
    const id = newFileId()
    const [one, other] = ['a', 'b'].map((folder) => keyOf(folder, id)) as [ObjectKey, ObjectKey]
    const stateOf = async (key: ObjectKey) => (await index.find({ clientId: CLIENT, key })).original?.state
    const states = async () => [await stateOf(one), await stateOf(other)]

    beforeEach(async () => {
      for (const key of [one, other]) await add(key, { originalName: key })
    })

    it('have both of them, the second one by its long name', async () => {
      for (const by of ORDERS) expect(await keysBy(by), by).to.have.members([one, other])
      expect(await redis.client.exists(hashesOf(one)[0], hashesOf(other)[1])).to.equal(2)
      const all = []
      for await (const { ref } of index.list(CLIENT)) all.push(ref.key)
      expect(all).to.have.members([one, other])
      const between = await index.filesBetween(CLIENT, { after: '', limit: 9 })
      expect(between.files.map(({ ref }) => ref.key)).to.deep.equal([one, other])
      expect(await index.search(CLIENT, { name: 'b/i' }, { most: 9 })).to.deep.equal([other])
      expect(await index.isSearchable(CLIENT, recordOf(other, { originalName: other }))).to.equal(true)
      expect(await index.recount(CLIENT, { repair: false })).to.deep.equal([])
    })

    it('have either of them in the trash, and stored again', async () => {
      for (const key of [one, other]) await index.trash({ clientId: CLIENT, key }, { at: NOW, until: LATER })
      expect(await states()).to.deep.equal(['trashed', 'trashed'])
      for (const by of ORDERS) expect(await keysBy(by, { state: 'trashed' })).to.have.members([one, other])
      expect(await index.restore({ clientId: CLIENT, key: other }, NOW)).to.equal(true)
      expect(await states()).to.deep.equal(['trashed', 'stored'])
      expect(await keysBy('size')).to.deep.equal([other])
      expect(await keysBy('size', { state: 'trashed' })).to.deep.equal([one])
    })

    for (const [removed, left] of [
      [one, other],
      [other, one],
    ] as const)
      it(`have the other one when ${removed === one ? 'the first' : 'the second'} is deleted, which can be added again`, async () => {
        await remove(index, removed)
        expect([await stateOf(removed), await stateOf(left)]).to.deep.equal([undefined, 'stored'])
        for (const by of ORDERS) expect(await keysBy(by), by).to.deep.equal([left])
        await add(removed)
        for (const by of ORDERS) expect(await keysBy(by), by).to.have.members([one, other])
        for (const key of [one, other]) await remove(index, key)
        await index.tidy({ most: 99 })
        expect(await redis.client.keys(`${keyPrefix}*`)).to.deep.equal([])
      })
  })

  it('end only at their end, when entries in the middle are missing', async () => {
    const keys = Array.from({ length: 20 }, (_, i) => keyOf(`f${i % 3}`, newFileId()))
    for (const [i, key] of keys.entries()) await add(key, { size: i, originalName: `${i}` })
    const left = keys.filter((_, i) => i < 4 || i > 12)
    await redis.client.del(...keys.filter((key) => !left.includes(key)).map((key) => hashesOf(key)[0]))
    for (const by of ORDERS) expect(await keysBy(by, { limit: 2 }), by).to.have.members(left)
  })

  it('sort names of any length, and long keys', async () => {
    const random = seededRandom(3)
    const names = Array.from({ length: 150 }, () => 'ab'.repeat(random.below(60)) + random.below(100))
    const records = []
    for (const originalName of names)
      records.push(await add(keyOf(random.oneOf(['', 'a', DEEP]), newFileId()), { originalName }))
    const sorted = records
      .map(({ originalName }) => originalName)
      .sort((a, b) => Buffer.compare(Buffer.from(`${a}\n`), Buffer.from(`${b}\n`)))
    for (const limit of [7, 1000]) {
      const found = await listed(index, CLIENT, { state: 'stored', by: 'name', limit })
      expect(found.map(({ record }) => record.originalName)).to.deep.equal(sorted)
      const down = await listed(index, CLIENT, { state: 'stored', by: 'name', limit, direction: 'down' })
      expect(down).to.deep.equal(found.reverse())
    }
    expect(await keysBy('key', { limit: 9 })).to.deep.equal(records.map(({ key }) => key).sort())
    for (const { key } of records) await remove(index, key)
    await index.tidy({ most: 99 })
    expect(await redis.client.keys(`${keyPrefix}*`)).to.deep.equal([])
  })

  it('finds files with equal bytes in one folder among those of many folders', async () => {
    const sha256 = 'ab'.repeat(32)
    for (let i = 0; i < 30; i += 1) await add(keyOf(`users/${i}`, newFileId()), { sha256 })
    const wanted = keyOf('users/x', newFileId())
    await add(wanted, { sha256 })
    await add(keyOf('users/x', newFileId()), { sha256: `${sha256.slice(0, -1)}c` })
    const prefix = `${sha256} ${wanted.slice(0, wanted.lastIndexOf('/') + 1)}`
    for (const direction of ['up', 'down'] as const) {
      const request = { state: 'stored', by: 'sha256', prefix, direction, limit: 10 } as const
      const { files } = await index.page(CLIENT, request)
      expect(files.map(({ record }) => record.key)).to.deep.equal([wanted])
      const behind = await index.page(CLIENT, { ...request, after: String(files[0]?.position) })
      expect(behind.files).to.deep.equal([])
    }
  })

  it('can delete all files when Redis is full', async () => {
    const server = await startRedis()
    const full = connectRedis({ url: server.url })
    try {
      await full.ready()
      const filled = redisIndex(full, { keyPrefix })
      const id = newFileId()
      const keys = [keyOf('a', id), keyOf('b', id), keyOf(DEEP, newFileId())]
      for (let i = 0; i < 150; i += 1) keys.push(keyOf('c', newFileId()))
      for (const [i, key] of keys.entries())
        await filled.adopt(CLIENT, recordOf(key, { originalName: 'n'.repeat(i) }))
      await full.client.config('SET', 'maxmemory', '1')
      for (const key of keys) await remove(filled, key)
      await filled.tidy({ most: 99 })
      expect(await full.client.keys('*')).to.deep.equal([])
    } finally {
      await full.close()
      await server.remove()
    }
  })

  it('have the same members, ids and names in scripts and in this process', async () => {
    const random = seededRandom(9)
    for (let i = 0; i < sized(80, 200); i += 1) {
      const record = randomRecord(random)
      const { key } = record
      const [short, long] = hashesOf(key)
      for (const name of [short, long]) {
        const place = placeNamed(name.slice(long.length - key.length)) as Place
        const args = [key, packedListed({ state: 'stored', record })]
        const members = (await membersOf(redis, [name], args)) as Buffer[]
        for (const [n, by] of ORDERS.entries()) {
          expect(memberOf(record, by, place), `${by} of ${key}`).to.deep.equal(members[n])
          if (by !== 'key') expect(placeAt(members[n] as Buffer, by)).to.deep.equal(place)
        }
        expect(members.slice(ORDERS.length).map(String)).to.deep.equal([idIn(key) ?? '', withoutId(key)])
      }
    }
  })
})

const membersOf = redisScript(
  `${ENTRIES}${PLACES}
local lists, add_member, remove_member, count_folders, totals = { stored = {}, trashed = {} }
${LISTING}
local members = listing_of(KEYS[1], ARGV[1], ARGV[2]).members
members[#members + 1] = id_in(ARGV[1]) or ''
members[#members + 1] = without_id(ARGV[1])
return members`,
  { replies: 'bytes' },
)

async function remove(index: FileIndex, key: ObjectKey): Promise<void> {
  const ref = { clientId: CLIENT, key }
  await index.beginRemoval(ref, { cause: 'purge', leaseUntil: LATER, now: NOW })
  expect(await index.finishRemoval(ref, NOW)).to.equal(true)
}

function keyOf(folder: string, id: string): ObjectKey {
  return storedKey(`${folder === '' ? '' : `${folder}/`}image/png/${id}.png`)
}

function recordOf(key: ObjectKey, more: Partial<OriginalRecord> = {}): OriginalRecord {
  return { key, originalName: 'a', mediaType: 'image/png', size: 1, sha256: 'aa', storedAt: NOW, ...more }
}

function randomRecord(random: Random): OriginalRecord {
  const odd = ['x', 'a/b/c', `${'1'.repeat(22)}.png`, `a/${'1'.repeat(21)}.png`, `a/${'1'.repeat(22)}`]
  const key =
    random.below(4) === 0 ? random.oneOf(odd) : keyOf(random.oneOf(['', 'a', 'ä/b', DEEP]), newFileId())
  return recordOf(storedKey(key), {
    storedAt: random.oneOf([0, -5, NOW + 0.5, 1e15, random.below(1e9)]),
    sha256: random.oneOf([
      '',
      'ab',
      'ABCDEF0123456789',
      'f'.repeat(64),
      random.below(1e9).toString(16).padEnd(64, '7'),
    ]),
    originalName: random.oneOf(['', 'a.png', 'Ä \u{1f600}', 'n'.repeat(255)]),
    size: random.oneOf([0, 255, 256, 2 ** 48, Number.MAX_SAFE_INTEGER, random.below(1e9)]),
  })
}
