import { expect } from 'chai'
import { partitionedIndex } from '../../../../src/adapters/file-index/partitioned/partitioned.ts'
import { firstPartition } from '../../../../src/adapters/file-index/partitioned/partitions.ts'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import { searchMarks } from '../../../../src/adapters/file-index/redis/search/former.ts'
import { BLOCK, GROUP } from '../../../../src/adapters/file-index/redis/search/lua.ts'
import { sealed } from '../../../../src/adapters/file-index/redis/search/postings.ts'
import { connectRedis, type RedisConnection } from '../../../../src/adapters/redis/connection.ts'
import { newFileId, type ObjectKey, storedKey } from '../../../../src/core/files/object-key.ts'
import { PARTITIONS } from '../../../../src/core/files/partition.ts'
import type { FileIndex, OriginalRecord } from '../../../../src/core/ports/file-index.ts'
import { seededRandom } from '../../../contracts/random.ts'
import { rejection } from '../../../support/rejection.ts'
import { newKeyPrefix, sharedRedis, startRedis } from '../../../support/servers/redis-server.ts'
import { sized } from '../../../support/sized.ts'

const NOW = 1_800_000_000_000
const LATER = NOW + 60_000
const CLIENT = 'first'
const { signal } = new AbortController()

describe('redis: the search of the index', () => {
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

  const searchHash = () => `${keyPrefix}search:${CLIENT}/`
  const hashOf = (key: ObjectKey) => `${keyPrefix}file:${CLIENT}/${key}`

  async function add(originalName: string, more: Partial<OriginalRecord> = {}): Promise<OriginalRecord> {
    const record = recordOf(originalName, more)
    await index.adopt(CLIENT, record)
    return record
  }
  const remove = (key: ObjectKey) => removeFrom(index, key)
  const find = async (name: string, most = 1000) => [
    ...((await index.search(CLIENT, { name }, { most })) ?? ['too many']),
  ]
  const blocks = async () => {
    const { next: _, ...living } = await redis.client.hgetall(searchHash())
    return living
  }
  const names = async () =>
    (await redis.client.keys(`${keyPrefix}*`)).map((name) => name.slice(keyPrefix.length)).sort()

  /** As if other files had had the numbers up to the last ones of a block, and had been deleted. */
  async function skipTo(left: number): Promise<void> {
    const next = Number((await redis.client.hget(searchHash(), 'next')) ?? 0)
    const block = Math.floor(next / BLOCK)
    await redis.client.hset(searchHash(), 'next', Math.max(next, (block + 1) * BLOCK - left))
  }

  it('finds keys of any length, and of any character', async () => {
    const folders = ['', 'f'.repeat(25), 'f'.repeat(26), 'f'.repeat(88), 'f'.repeat(89), '日/'.repeat(90)]
    const keys = folders.map((folder) => newKey(folder.replace(/\/$/, '')))
    for (const key of keys) await add('same.png', { key })
    expect((await find('same')).sort()).to.deep.equal(keys.toSorted())
    for (const key of keys) await remove(key)
    await index.tidy()
    expect(await names()).to.deep.equal([])
  })

  it('reads no posting of a text that too many files have', async () => {
    await add('often.png')
    const numbers = Buffer.alloc(2 * BLOCK)
    for (let i = 0; i < BLOCK; i += 1) numbers.writeUInt16BE(i, 2 * i)
    // Blocks in which all files have this term.
    for (let block = 1; block <= 5; block += 1) {
      await redis.client.hset(searchHash(), block, BLOCK)
      await redis.client.set(`${searchHash()}${block}:oft`, block % 2 ? sealed(numbers) : numbers)
    }
    const reads = async () =>
      Number(/cmdstat_get:calls=(\d+)/.exec(await redis.client.info('commandstats'))?.[1] ?? 0)
    const before = await reads()
    await redis.client.hset(searchHash(), 'next', 6 * BLOCK)
    expect(await index.search(CLIENT, { name: 'oft' }, { most: 6 * BLOCK })).to.equal(undefined)
    expect(await reads()).to.equal(before)
    for (let block = 1; block <= 5; block += 1) await redis.client.hdel(searchHash(), String(block))
    await redis.client.hset(searchHash(), 'next', 1)
    await Promise.all(Array.from({ length: 30 }, (_, i) => add(`often ${i}.png`)))
    expect(await index.search(CLIENT, { name: 'often' }, { most: 30 })).to.equal(undefined)
    expect(await reads()).to.equal(before)
    expect(await index.search(CLIENT, { name: 'often' }, { most: 31 })).to.have.length(31)
  })

  it('reads few files for a text whose terms many files have, but not together', async () => {
    const days = Array.from({ length: 400 }, (_, i) => `day ${i % 20} photo ${Math.floor(i / 20)}x.png`)
    const records = await Promise.all(days.map((name) => add(name)))
    const match = records.find(({ originalName }) => originalName === 'day 17 photo 13x.png')
    expect(await find('day 17 photo 13x', 9)).to.deep.equal([match?.key])
  })

  it('finds the files of several blocks, of which the full ones are shortened', async function () {
    this.timeout(60_000)
    // More than a list of two bytes for each is worth.
    const files = 4200
    const first = await add('first IMG.png', { tags: ['red'] })
    await skipTo(files - 1)
    const records = Array.from({ length: files }, (_, i) => recordOf(`img ${i % 7}.png`))
    for (let from = 0; from < files; from += 100)
      await Promise.all(records.slice(from, from + 100).map((record) => index.adopt(CLIENT, record)))
    expect(await blocks()).to.deep.equal({ 0: '4200', 1: '1' })
    const last = records.at(-1)?.key ?? first.key
    const expected = [first.key, ...records.map(({ key }) => key)].sort()
    const compare = async () => {
      expect((await find('img', 5000)).sort()).to.deep.equal(expected)
      expect(await index.search(CLIENT, { name: 'img' }, { most: 4200 })).to.equal(undefined)
      expect(await find('first')).to.deep.equal([first.key])
      expect(await index.search(CLIENT, { tag: 'red' }, { most: 9 })).to.deep.equal([first.key])
      expect(await find('g 3.p')).to.have.length(600)
    }
    await compare()
    // As if few of the other files had been deleted.
    await redis.client.hset(searchHash(), '0', 60_000)
    const bytes = () => redis.client.strlen(`${searchHash()}0:img`)
    expect(await bytes()).to.equal(2 * files)
    for (const _ of [1, 2]) await index.tidy()
    expect(await bytes()).to.equal(BLOCK / 8 + 3)
    expect(await redis.client.exists(`${keyPrefix}untidy`)).to.equal(0)
    await compare()
    await remove(last)
    expected.splice(expected.indexOf(last), 1)
    expect((await find('img', 5000)).sort()).to.deep.equal(expected)
  })

  it('drops a block whose files are deleted, and begins with the first one again', async () => {
    const records = [await add('one.png', { tags: ['a'] }), await add('two.png')]
    await skipTo(0)
    const other = await add('other.png')
    for (const { key } of records) await remove(key)
    expect(await blocks()).to.deep.equal({ 0: '0', 1: '1' })
    await index.tidy()
    expect(await blocks()).to.deep.equal({ 1: '1' })
    expect((await names()).filter((name) => /:(?:terms:)?0/.test(name))).to.deep.equal([])
    expect(await find('other')).to.deep.equal([other.key])
    await remove(other.key)
    await index.tidy()
    expect(await names()).to.deep.equal([])
    const again = await add('one.png')
    expect(await find('one')).to.deep.equal([again.key])
    expect(await blocks()).to.deep.equal({ 0: '1' })
  })

  it('gives the few files of a block other numbers, and finds them also by the former ones until the block is dropped', async () => {
    const records = [await add('one.png', { tags: ['a'] }), await add('two.png'), await add('three.png')]
    const key = `${'long/'.repeat(20)}${newKey('')}` as ObjectKey
    records.push(await add('four.png', { key }))
    await skipTo(100)
    await remove(records[1]?.key ?? key)
    const rest = records.filter((_, i) => i !== 1).map((one) => one.key as string)
    // A search that has read the postings before the files move.
    const postings = await redis.client.getBuffer(`${searchHash()}0:.pn`)
    await index.tidy()
    expect(await blocks()).to.deep.equal({ 0: '0', 1: '3' })
    expect(await redis.client.getBuffer(`${searchHash()}0:.pn`)).to.deep.equal(postings)
    expect((await find('.png')).sort()).to.deep.equal(rest.toSorted())
    // As if another process had moved some of the files.
    await redis.client.hset(searchHash(), '0', 1)
    await index.tidy()
    expect(await blocks()).to.deep.equal({ 0: '1', 1: '3' })
    await redis.client.hset(searchHash(), '0', 0)
    await redis.client.del(`${searchHash()}1:.pn`)
    expect((await find('.png')).sort()).to.deep.equal(rest.toSorted())
    await index.tidy()
    expect(await blocks()).to.deep.equal({ 1: '3' })
    for (const record of records) {
      expect(await index.isSearchable(CLIENT, record)).to.equal(rest.includes(record.key))
      const part = record.originalName.slice(0, 3)
      expect(await find(part), part).to.deep.equal(rest.includes(record.key) ? [record.key] : [])
    }
    for (const one of rest) await remove(one as ObjectKey)
    await index.tidy()
    expect(await names()).to.deep.equal([])
  })

  it('drops the numbers of files that an older version has deleted', async () => {
    const [kept, lost] = [await add('kept.png'), await add('lost.png')]
    await redis.client.del(hashOf(lost.key))
    await skipTo(0)
    await remove((await add('other.png')).key)
    await redis.client.sadd(`${keyPrefix}untidy`, `${searchHash()}0`)
    await index.tidy()
    expect(await blocks()).to.deep.include({ 0: '0' })
    await index.tidy()
    expect([await find('lost'), await find('kept')]).to.deep.equal([[], [kept.key]])
  })

  it('takes memory for the files that exist, after many more were uploaded, renamed and deleted', async function () {
    this.timeout(120_000)
    const random = seededRandom(5)
    const files = new Map<ObjectKey, OriginalRecord>()
    const words = ['apple', 'banana', 'cherry', 'äpfel', '日本']
    const newName = () => `${random.oneOf(words)} ${random.oneOf(words)} ${random.below(50)}.png`
    const rounds = sized(400, 6000)
    let most = 0
    for (let round = 0; round < rounds; round += 1) {
      const known = [...files.values()]
      const one = random.oneOf(known.length > 0 ? known : [recordOf('')])
      const step = random.below(known.length > 12 ? 9 : 6)
      if (step < 3) {
        const record = await add(newName(), random.below(2) ? { tags: [random.oneOf(words)] } : {})
        files.set(record.key, record)
      } else if (step === 3 && known.length > 0) {
        const renamed = { ...one, originalName: newName() }
        await index.amend(CLIENT, one, renamed)
        files.set(one.key, renamed)
      } else if (step === 4) await index.tidy()
      else if (step === 5 && known.length > 0) await skipTo(random.below(3))
      else if (step > 5) {
        await remove(one.key)
        files.delete(one.key)
      }
      const word = random.oneOf(words)
      const expected = [...files.values()].filter(({ originalName }) => originalName.includes(word))
      const story = `round ${round}`
      expect((await find(word)).sort(), story).to.include.members(expected.map(({ key }) => key))
      const tagged = [...files.values()].filter(({ tags }) => tags?.includes(word)).map(({ key }) => key)
      const found = await index.search(CLIENT, { tag: word }, { most: 99 })
      expect(found, story).to.include.members(tagged)
      // A file that was deleted after it had been given another number may be found until the block is dropped.
      expect(
        found?.filter((key) => files.has(key)),
        story,
      ).to.have.length(tagged.length)
      if (round % 20 === 0) most = Math.max(most, (await names()).length)
    }
    // 13 files have about 30 terms each, in some blocks.
    expect(most).to.be.below(1500)
    for (const record of files.values()) expect(await index.isSearchable(CLIENT, record)).to.equal(true)
    for (const key of files.keys()) await remove(key)
    for (const _ of [1, 2]) await index.tidy()
    expect(await names()).to.deep.equal([])
  })

  it('has living numbers that equal the files, when several processes tidy and delete', async () => {
    const records = await Promise.all(Array.from({ length: 60 }, (_, i) => add(`name ${i}.png`)))
    await skipTo(20)
    const more = await Promise.all(Array.from({ length: 40 }, (_, i) => add(`more ${i}.png`)))
    const gone = [...records.slice(0, 30), ...more.slice(0, 30)]
    await redis.client.sadd(`${keyPrefix}untidy`, `${searchHash()}0`, `${searchHash()}1`)
    await Promise.all([index.tidy(), ...gone.map(({ key }) => remove(key)), index.tidy(), index.tidy()])
    for (const _ of [1, 2, 3]) await index.tidy()
    const living = Object.values(await blocks()).reduce((sum, count) => sum + Number(count), 0)
    expect(living).to.equal(40)
    expect(await find('.png')).to.have.length(40)
  })

  describe('after an upgrade from version 1.0', () => {
    /** What version 1.0 stores for a file, and for all files. */
    async function storeAsFormer(record: OriginalRecord, { isNew = true } = {}): Promise<void> {
      if (isNew) {
        await index.adopt(CLIENT, record)
        const number = (await redis.client.hgetBuffer(hashOf(record.key), '.sluice/n'))?.readUIntBE(0, 5) ?? 0
        await redis.client.hdel(hashOf(record.key), '.sluice/n')
        await redis.client.hdel(`${searchHash()}keys:${Math.floor(number / GROUP)}`, String(number % GROUP))
      }
      const texts = [record.originalName.toLowerCase(), ...(record.tags ?? [])].join('\n')
      await redis.client.hset(`${keyPrefix}texts:${CLIENT}/`, record.key, texts)
      await redis.client.zadd(`${keyPrefix}terms:${CLIENT}/`, 0, `n${record.originalName}\n\n${record.key}`)
    }
    const markAsFormer = () => redis.client.mset(`${keyPrefix}searchable`, 1, `${keyPrefix}complete`, 1)
    const former = async () => (await names()).filter((name) => /^(?:te\w+s:|searchable$)/.test(name))

    it('uses lists until all files are entered from the index alone, and deletes the former keys', async () => {
      const records = Array.from({ length: 250 }, (_, i) => recordOf(`file ${i}.png`, { tags: ['red'] }))
      for (const record of records) await storeAsFormer(record)
      await index.trash({ clientId: CLIENT, key: records[0]?.key ?? newKey('') }, { at: NOW, until: LATER })
      await redis.client.del(searchHash(), ...(await redis.client.keys(`${searchHash()}*`)))
      await markAsFormer()
      expect([await index.canSearch(), await index.canSearch(CLIENT)]).to.deep.equal([false, false])
      expect(await index.isSearchable(CLIENT, records[3] ?? recordOf(''))).to.equal(false)
      const cancelled = AbortSignal.abort(new Error('stopped'))
      expect(await rejection(index.upgrade(cancelled))).to.include({ message: 'stopped' })
      expect(await index.canSearch()).to.equal(false)
      await index.upgrade(signal)
      expect([await index.canSearch(), await index.canSearch(CLIENT)]).to.deep.equal([true, true])
      expect(await former()).to.deep.equal([])
      expect(await index.search(CLIENT, { tag: 'red' }, { most: 999 })).to.have.length(250)
      expect(await find('file 24')).to.have.length(11)
    })

    it('has no search in an index that had none', async () => {
      await add('one.png')
      await index.upgrade(signal)
      expect(await index.canSearch()).to.equal(false)
      await index.markComplete()
      expect(await index.canSearch()).to.equal(true)
    })

    it('does not trust its search after an older version ran instead, and enters its files', async () => {
      const [same, renamed] = [await add('same.png'), await add('before.png')]
      await index.markComplete()
      const after = { ...renamed, originalName: 'after.png' }
      const added = recordOf('added.png')
      // The older version changes only its own search.
      const text = await redis.client.hget(hashOf(renamed.key), '')
      await redis.client.hset(hashOf(renamed.key), '', String(text).replace('before.png', 'after.png'))
      for (const record of [same, after]) await storeAsFormer(record, { isNew: false })
      await storeAsFormer(added)
      await markAsFormer()
      expect(await index.canSearch()).to.equal(false)
      await index.upgrade(signal)
      expect(await index.canSearch(CLIENT)).to.equal(true)
      expect([
        await find('after'),
        await find('added'),
        await find('same'),
        await find('before'),
      ]).to.deep.equal([[renamed.key], [added.key], [same.key], []])
    })

    it('notices files that an older process adds later, and enters them', async () => {
      await index.markComplete()
      await storeAsFormer(recordOf('late.png'))
      expect(await index.canSearch()).to.equal(true)
      expect(await index.canSearch('other')).to.equal(true)
      expect(await index.canSearch(CLIENT)).to.equal(false)
      expect(await index.canSearch(), 'for the next comparison').to.equal(false)
      await index.upgrade(signal)
      expect(await index.canSearch(CLIENT)).to.equal(true)
      expect(await find('late')).to.have.length(1)
      expect(await former()).to.deep.equal([])
    })

    it('notices them in each partition of a client', async () => {
      const all = Array.from({ length: PARTITIONS }, (_, i) =>
        redisIndex(redis, { keyPrefix: `${keyPrefix}${i}:` }),
      )
      const partitioned = partitionedIndex(all, { perClient: async () => 1, list: index.list })
      await partitioned.markComplete()
      await redis.client.hset(
        `${keyPrefix}${firstPartition(CLIENT)}:texts:${CLIENT}/`,
        newKey(''),
        'late.png',
      )
      expect([await partitioned.canSearch(CLIENT), await partitioned.canSearch('x')]).to.deep.equal([
        false,
        true,
      ])
      await partitioned.upgrade(signal)
      expect(await partitioned.canSearch(CLIENT)).to.equal(true)
    })

    it('enters the last name of a file that an older process renames in the meantime', async () => {
      const first = recordOf('first.png')
      const last = { ...first, originalName: 'last.png' }
      await storeAsFormer(first)
      await markAsFormer()
      let isRenamed = false
      const marks = searchMarks(redis, {
        keyPrefix,
        async adopt(clientId, record) {
          if (!isRenamed) {
            const text = await redis.client.hget(hashOf(first.key), '')
            await redis.client.hset(hashOf(first.key), '', String(text).replace('first.png', 'last.png'))
            await storeAsFormer(last, { isNew: false })
          }
          isRenamed = true
          return index.adopt(clientId, record)
        },
      })
      await marks.upgrade(signal)
      expect([await index.canSearch(CLIENT), await index.isSearchable(CLIENT, last)]).to.deep.equal([
        true,
        true,
      ])
      expect([await find('first'), await find('last')]).to.deep.equal([[], [first.key]])
    })
  })
})

describe('redis: the search of an index without free memory', () => {
  it('deletes files and frees their memory', async () => {
    const server = await startRedis()
    const redis = connectRedis({ url: server.url })
    try {
      await redis.ready()
      const index = redisIndex(redis, { keyPrefix: newKeyPrefix() })
      const records = [recordOf('one.png', { tags: ['red'] }), recordOf('two.png')]
      for (const record of records) await index.adopt(CLIENT, record)
      await redis.client.config('SET', 'maxmemory', '1')
      expect(await rejection(index.adopt(CLIENT, recordOf('three.png')))).to.include({ status: 503 })
      for (const { key } of records) await removeFrom(index, key)
      await index.tidy()
      expect(await redis.client.keys('*')).to.deep.equal([])
    } finally {
      await redis.close()
      await server.remove()
    }
  })
})

async function removeFrom(index: FileIndex, key: ObjectKey): Promise<void> {
  const ref = { clientId: CLIENT, key }
  await index.beginRemoval(ref, { cause: 'purge', leaseUntil: LATER, now: NOW })
  await index.finishRemoval(ref, NOW)
}

function newKey(folder: string): ObjectKey {
  return storedKey(`${folder === '' ? '' : `${folder}/`}image/png/${newFileId()}.png`)
}

function recordOf(originalName: string, more: Partial<OriginalRecord> = {}): OriginalRecord {
  const file = { mediaType: 'image/png', size: 1, sha256: '00', storedAt: NOW }
  return { key: newKey(''), originalName, ...file, ...more }
}
