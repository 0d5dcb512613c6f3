import { expect } from 'chai'
import { keyNames, prefixOf, searchKey } from '../../../../src/adapters/file-index/redis/keys.ts'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import { BLOCK } from '../../../../src/adapters/file-index/redis/search/lua.ts'
import { sealed } from '../../../../src/adapters/file-index/redis/search/postings.ts'
import { connectRedis, type RedisConnection } from '../../../../src/adapters/redis/connection.ts'
import { newFileId, type ObjectKey, storedKey } from '../../../../src/core/files/object-key.ts'
import type { FileIndex, OriginalRecord } from '../../../../src/core/ports/file-index.ts'
import { SearchAllowance } from '../../../../src/core/ports/index/search-allowance.ts'
import { seededRandom } from '../../../contracts/random.ts'
import { rejection } from '../../../support/rejection.ts'
import { newKeyPrefix, sharedRedis, startRedis } from '../../../support/servers/redis-server.ts'
import { itLong, sized } from '../../../support/sized.ts'

const NOW = 1_800_000_000_000
const LATER = NOW + 60_000
const CLIENT = 'first'

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

  const searchHash = () => searchKey(prefixOf(keyPrefix), CLIENT)
  const hashOf = (key: ObjectKey) => keyNames(keyPrefix).hashesOf({ clientId: CLIENT, key })[0]

  async function add(originalName: string, more: Partial<OriginalRecord> = {}): Promise<OriginalRecord> {
    const record = recordOf(originalName, more)
    await index.adopt(CLIENT, record)
    return record
  }
  const remove = (key: ObjectKey) => removeFrom(index, key)
  const tidy = () => index.tidy({ most: 10_000 })
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
    await tidy()
    expect(await names()).to.deep.equal([])
  })

  it('finds texts of three bytes, also of fewer characters', async () => {
    const [accent, day] = [await add('é.'), await add('日')]
    await add('ab')
    expect([await find('é.'), await find('日')]).to.deep.equal([[accent.key], [day.key]])
    for (const name of ['', 'a', 'ab', 'é'])
      expect(await index.search(CLIENT, { name }, { most: 9 }), name).to.equal(undefined)
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
    const calls: string[] = []
    const watched = redisIndex(
      watchedRedis(redis, (name) => calls.push(name)),
      { keyPrefix },
    )
    const search = (name: string, most: number) => watched.search(CLIENT, { name }, { most })
    await redis.client.hset(searchHash(), 'next', 6 * BLOCK)
    expect(await search('oft', 5 * BLOCK)).to.equal(undefined)
    // Perhaps few files have both terms, but too many numbers must be read to see that.
    for (const term of ['wxy', 'xyz'])
      await redis.client.set(`${searchHash()}0:${term}`, numbers.subarray(0, 10_000))
    expect(await search('wxyz', 100)).to.equal(undefined)
    for (let block = 1; block <= 5; block += 1) await redis.client.hdel(searchHash(), String(block))
    await redis.client.hset(searchHash(), 'next', 1)
    await Promise.all(Array.from({ length: 30 }, (_, i) => add(`often ${i}.png`)))
    expect(await search('often', 30)).to.equal(undefined)
    expect(calls).not.to.include('getBuffer')
    expect(await search('often', 31)).to.have.length(31)
    expect(calls).to.include('getBuffer')
  })

  it('reads no place of a file when the other partitions of a search have read as much as it may', async () => {
    for (const i of [1, 2, 3]) await add(`alike ${i}.png`)
    const calls: string[] = []
    const watched = redisIndex(
      watchedRedis(redis, (name) => calls.push(name)),
      { keyPrefix },
    )
    const allowance = new SearchAllowance(5)
    const search = () => watched.search(CLIENT, { name: 'alike' }, { most: 5, allowance })
    expect(await search()).to.have.length(3)
    expect(calls).to.include('callBuffer')
    calls.length = 0
    expect(await search()).to.equal(undefined)
    expect(calls).to.include('getBuffer').and.not.include('callBuffer')
    calls.length = 0
    expect(await search()).to.equal(undefined)
  })

  it('reads no posting when the other partitions of a search have ended it', async () => {
    await add('alike.png')
    const calls: string[] = []
    const watched = redisIndex(
      watchedRedis(redis, (name) => calls.push(name)),
      { keyPrefix },
    )
    const allowance = new SearchAllowance(5)
    allowance.end()
    expect(await watched.search(CLIENT, { name: 'alike' }, { most: 5, allowance })).to.equal(undefined)
    expect(calls).not.to.include('getBuffer')
  })

  it('reads few files for a text whose terms many files have, but not together', async () => {
    const days = Array.from({ length: 400 }, (_, i) => `day ${i % 20} photo ${Math.floor(i / 20)}x.png`)
    const records = await Promise.all(days.map((name) => add(name)))
    const match = records.find(({ originalName }) => originalName === 'day 17 photo 13x.png')
    expect(await find('day 17 photo 13x', 9)).to.deep.equal([match?.key])
  })

  it('finds the files of several blocks, of which the full ones are shortened', async () => {
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
    for (const _ of [1, 2]) await tidy()
    expect(await bytes()).to.equal(BLOCK / 8 + 3)
    expect(await redis.client.exists(`${prefixOf(keyPrefix)}untidy`)).to.equal(0)
    await compare()
    await remove(last)
    expected.splice(expected.indexOf(last), 1)
    expect((await find('img', 5000)).sort()).to.deep.equal(expected)
  })

  it('finds and removes the last file of a block and the first one of the next', async () => {
    await add('other.png')
    await skipTo(1)
    const pair = [await add('pair 1.png'), await add('pair 2.png')]
    expect(await blocks()).to.deep.equal({ 0: '2', 1: '1' })
    expect((await find('pair')).sort()).to.deep.equal(pair.map(({ key }) => key as string).sort())
    for (const { key } of pair) await remove(key)
    expect(await find('pair')).to.deep.equal([])
    expect(await blocks()).to.deep.equal({ 0: '1', 1: '0' })
  })

  it('drops a block whose files are deleted, and begins with the first one again', async () => {
    const records = [await add('one.png', { tags: ['a'] }), await add('two.png')]
    await skipTo(0)
    const other = await add('other.png')
    for (const { key } of records) await remove(key)
    expect(await blocks()).to.deep.equal({ 0: '0', 1: '1' })
    await tidy()
    expect(await blocks()).to.deep.equal({ 1: '1' })
    expect((await names()).filter((name) => /:(?:terms:)?0/.test(name))).to.deep.equal([])
    expect(await find('other')).to.deep.equal([other.key])
    await remove(other.key)
    await tidy()
    expect(await names()).to.deep.equal([])
    const again = await add('one.png')
    expect(await find('one')).to.deep.equal([again.key])
    expect(await blocks()).to.deep.equal({ 0: '1' })
  })

  it('gives the few files of a block other numbers, and drops the block', async () => {
    const records = [await add('one.png', { tags: ['a'] }), await add('two.png'), await add('three.png')]
    const key = `${'long/'.repeat(20)}${newKey('')}` as ObjectKey
    records.push(await add('four.png', { key }))
    await skipTo(100)
    await remove(records[1]?.key ?? key)
    const rest = records.filter((_, i) => i !== 1).map((one) => one.key as string)
    expect(await index.tidy({ most: 10_000, signal: AbortSignal.abort() })).to.equal(0)
    expect(await blocks()).to.deep.equal({ 0: '3' })
    // Each call does a part of the work.
    expect(await index.tidy({ most: 1 })).to.equal(3)
    expect(await blocks()).to.deep.equal({ 0: '0', 1: '3' })
    for (let calls = 0; '0' in (await blocks()); calls += 1) {
      expect(calls).to.be.below(9)
      await index.tidy({ most: 1 })
      expect((await find('.png')).sort()).to.deep.equal(rest.toSorted())
    }
    expect(await blocks()).to.deep.equal({ 1: '3' })
    for (const record of records) {
      expect(await index.isSearchable(CLIENT, record)).to.equal(rest.includes(record.key))
      const part = record.originalName.slice(0, 3)
      expect(await find(part), part).to.deep.equal(rest.includes(record.key) ? [record.key] : [])
    }
    for (const one of rest) await remove(one as ObjectKey)
    await tidy()
    expect(await names()).to.deep.equal([])
  })

  describe('during a search', () => {
    /** Does something after each of the commands of a search, one search for each. */
    async function afterEachCommand(prepare: () => Promise<() => Promise<unknown>>): Promise<void> {
      let commands = Number.POSITIVE_INFINITY
      for (let nth = 0; nth < commands; nth += 1) {
        const record = await add('found.png', { tags: [`tag ${nth}`] })
        const change = await prepare()
        let done = 0
        const watched = redisIndex(
          watchedRedis(redis, async () => {
            done += 1
            if (done === nth + 1) await change()
          }),
          { keyPrefix },
        )
        const found = await watched.search(CLIENT, { tag: `tag ${nth}` }, { most: 99 })
        expect(found, `command ${nth}`).to.include(record.key)
        commands = done
      }
      expect(commands).to.be.within(4, 9)
    }

    it('finds a file whose name changes', async () => {
      await afterEachCommand(async () => {
        const [key] = await find('found')
        const { original } = await index.find({ clientId: CLIENT, key: key as ObjectKey })
        const record = original && 'record' in original ? original.record : recordOf('')
        return () => index.amend(CLIENT, record, { ...record, originalName: 'renamed.png' })
      })
    })

    it('finds the files of a block that two other processes move and drop', async () => {
      await afterEachCommand(async () => {
        await skipTo(100)
        await remove((await add('other.png')).key)
        const before = Object.keys(await blocks())
        return async () => {
          await Promise.all([tidy(), tidy()])
          expect(await blocks()).not.to.have.any.keys(before)
        }
      })
    })

    it('needs a list when very many files change', async () => {
      await add('found.png')
      const watched = redisIndex(
        watchedRedis(redis, async (name) => {
          if (name === 'getBuffer') await redis.client.hincrby(searchHash(), 'next', 501)
        }),
        { keyPrefix },
      )
      expect(await watched.search(CLIENT, { name: 'found' }, { most: 99 })).to.equal(undefined)
    })
  })

  it('moves the other blocks when one fails', async () => {
    await add('one.png')
    await skipTo(100)
    await remove((await add('two.png')).key)
    await redis.client.set(`${prefixOf(keyPrefix)}search:broken/`, 'no hash')
    for (let block = 0; block < 5; block += 1)
      await redis.client.sadd(`${prefixOf(keyPrefix)}untidy`, `${prefixOf(keyPrefix)}search:broken/${block}`)
    expect(await rejection(tidy())).to.be.an('error')
    expect(await blocks()).to.deep.equal({ 1: '1' })
    expect(await redis.client.exists(`${prefixOf(keyPrefix)}untidy`)).to.equal(0)
  })

  it('frees the numbers of files whose hash an operator has deleted', async () => {
    const long = `${'long/'.repeat(20)}${newKey('')}` as ObjectKey
    const [kept, lost] = [await add('kept'), await add('lost')]
    await add('lost too', { key: long })
    await redis.client.del(hashOf(lost.key), hashOf(long))
    await skipTo(0)
    await redis.client.sadd(`${prefixOf(keyPrefix)}untidy`, `${searchHash()}0`)
    await tidy()
    expect(await blocks()).to.deep.equal({ 1: '1' })
    expect([await find('kept'), await find('lost')]).to.deep.equal([[kept.key], []])
  })

  itLong(
    'takes memory for the files that exist, after many more were uploaded, renamed and deleted',
    async function () {
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
        } else if (step === 4) await tidy()
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
        expect(found, story).to.have.length(tagged.length)
        if (round % 20 === 0) most = Math.max(most, (await names()).length)
      }
      // 13 files have about 30 terms each, in some blocks.
      expect(most).to.be.below(1500)
      for (const record of files.values()) expect(await index.isSearchable(CLIENT, record)).to.equal(true)
      for (const key of files.keys()) await remove(key)
      for (const _ of [1, 2]) await tidy()
      expect(await names()).to.deep.equal([])
    },
  )

  it('has living numbers that equal the files, when several processes tidy and delete', async () => {
    const records = await Promise.all(Array.from({ length: 60 }, (_, i) => add(`name ${i}.png`)))
    await skipTo(20)
    const more = await Promise.all(Array.from({ length: 40 }, (_, i) => add(`more ${i}.png`)))
    const gone = [...records.slice(0, 30), ...more.slice(0, 30)]
    await redis.client.sadd(`${prefixOf(keyPrefix)}untidy`, `${searchHash()}0`, `${searchHash()}1`)
    await Promise.all([tidy(), ...gone.map(({ key }) => remove(key)), tidy(), tidy()])
    for (const _ of [1, 2, 3]) await tidy()
    const living = Object.values(await blocks()).reduce((sum, count) => sum + Number(count), 0)
    expect(living).to.equal(40)
    expect(await find('.png')).to.have.length(40)
  })

  it('enters files again when an operator has deleted its keys, but not their numbers', async () => {
    const records = [await add('one.png'), await add('two.png')]
    await redis.client.del(...(await redis.client.keys(`${searchHash()}*`)))
    const three = await add('three.png')
    for (const record of records) {
      expect(await index.isSearchable(CLIENT, record)).to.equal(false)
      await index.adopt(CLIENT, record)
      expect(await find(record.originalName)).to.deep.equal([record.key])
    }
    expect(await find('three')).to.deep.equal([three.key])
    expect(await blocks()).to.deep.equal({ 0: '3' })
  })
})

describe('redis: the search of an index without free memory', () => {
  let server: Awaited<ReturnType<typeof startRedis>>
  let redis: RedisConnection
  let keyPrefix: string
  let index: FileIndex

  before(async () => {
    server = await startRedis()
    redis = connectRedis({ url: server.url })
    await redis.ready()
  })
  after(async () => {
    await redis.close()
    await server.remove()
  })
  beforeEach(async () => {
    await redis.client.config('SET', 'maxmemory', '0')
    await redis.client.flushall()
    keyPrefix = newKeyPrefix()
    index = redisIndex(redis, { keyPrefix })
  })

  async function fill(): Promise<void> {
    await redis.client.config('SET', 'maxmemory', '1')
    expect(await rejection(index.adopt(CLIENT, recordOf('three.png')))).to.include({ status: 503 })
  }
  const find = (name: string) => index.search(CLIENT, { name }, { most: 9 })

  it('deletes files and frees their memory', async () => {
    const records = [recordOf('one.png', { tags: ['red'] }), recordOf('two.png')]
    for (const record of records) await index.adopt(CLIENT, record)
    await fill()
    for (const { key } of records) await removeFrom(index, key)
    await index.tidy({ most: 99 })
    expect(await redis.client.keys('*')).to.deep.equal([])
  })

  it('gives files other numbers, and shortens postings', async () => {
    const search = searchKey(prefixOf(keyPrefix), CLIENT)
    for (const name of ['one.png', 'two.png']) await index.adopt(CLIENT, recordOf(name))
    await redis.client.set(`${search}1:abc`, Buffer.alloc(10_000))
    await redis.client.rpush(`${search}terms:1`, 'abc')
    await redis.client.hset(search, { next: 2 * BLOCK, 1: BLOCK })
    await redis.client.sadd(`${prefixOf(keyPrefix)}untidy`, `${search}0`, `${search}1`)
    await fill()
    await index.tidy({ most: 99 })
    expect(await redis.client.hgetall(search)).to.deep.equal({
      next: `${2 * BLOCK + 2}`,
      1: `${BLOCK}`,
      2: '2',
    })
    expect(await redis.client.strlen(`${search}1:abc`)).to.equal(BLOCK / 8 + 3)
    expect(await find('.png')).to.have.length(2)
  })
})

/** Calls back after each command, with its name. Other connections are not affected. */
function watchedRedis(redis: RedisConnection, after: (name: string) => unknown): RedisConnection {
  return {
    ...redis,
    send: (work) =>
      redis.send((client) =>
        work(
          new Proxy(client, {
            get(target, name) {
              const value = Reflect.get(target, name, target)
              if (typeof value !== 'function') return value
              return async (...args: unknown[]) => {
                const result = await value.apply(target, args)
                await after(String(name))
                return result
              }
            },
          }),
        ),
      ),
  }
}

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
