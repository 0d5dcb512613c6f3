import { expect } from 'chai'
import { TREE_CHANGES, TREE_READS } from '../../../../../src/adapters/file-index/redis/tree/lua.ts'
import { type MemberRange, readMembers } from '../../../../../src/adapters/file-index/redis/tree/read.ts'
import { connectRedis, type RedisConnection } from '../../../../../src/adapters/redis/connection.ts'
import { redisScript } from '../../../../../src/adapters/redis/script.ts'
import { type Random, seededRandom } from '../../../../contracts/random.ts'
import {
  newKeyPrefix,
  type RedisServer,
  sharedRedis,
  startRedis,
} from '../../../../support/servers/redis-server.ts'
import { everyNth, sized } from '../../../../support/sized.ts'

const addMember = redisScript(`${TREE_READS}${TREE_CHANGES}return add_member(KEYS[1], ARGV[1])`)
/** Many members at once. @returns those that the list had before, or that it did not have */
const inBulk = (name: string) =>
  redisScript(
    `${TREE_READS}${TREE_CHANGES}
local noted, unchanged = {}, {}
${name}(KEYS[1], ARGV, noted)
for member in pairs(noted) do unchanged[#unchanged + 1] = member end
return unchanged`,
    { replies: 'bytes' },
  )
const addMembers = inBulk('add_members')
const removeMembers = inBulk('remove_members')
const removeMember = redisScript(`${TREE_READS}${TREE_CHANGES}return remove_member(KEYS[1], ARGV[1])`)

describe('redis: a list of members', () => {
  let redis: RedisConnection
  let list: string
  const keysOf = async () => (await redis.client.keys(`${list}*`)).sort()

  before(async () => {
    redis = connectRedis({ url: (await sharedRedis()).url })
    await redis.ready()
  })
  beforeEach(() => {
    list = `${newKeyPrefix()}list`
  })
  after(() => redis.close())

  /** All members, read in parts of this size. */
  async function read(direction: 'up' | 'down', limit: number): Promise<Buffer[]> {
    const all: Buffer[] = []
    for (;;) {
      const last = all.at(-1)
      const range = last && (direction === 'up' ? { above: last } : { below: last })
      const found = await readMembers(redis, list, { direction, limit, ...range })
      all.push(...found)
      if (found.length < limit) return all
    }
  }

  it('returns whether a member was added or removed', async () => {
    const outcomes = []
    for (const member of ['one', 'x'.repeat(65)]) {
      for (const change of [removeMember, addMember, addMember, removeMember, removeMember])
        outcomes.push(await change(redis, [list], [member]))
    }
    expect(outcomes).to.deep.equal([0, 1, 0, 1, 0, 0, 1, 0, 1, 0])
    expect(await keysOf()).to.deep.equal([])
  })

  it('does not add the last member of a full leaf again', async () => {
    for (let i = 0; i < 128; i += 1) await addMember(redis, [list], [`m${1000 + i}`])
    expect(await addMember(redis, [list], ['m1127'])).to.equal(0)
    expect(await read('up', 1000)).to.have.length(128)
  })

  const steps = sized(1000, 20_000)
  for (const seed of everyNth(3, [1, 2, 3]))
    it(`is a sorted set of bytes, after ${steps} random changes (seed ${seed})`, async function () {
      this.timeout(120_000)
      const random = seededRandom(seed)
      const model = new Map<string, Buffer>()
      const sorted = () => [...model.values()].sort(Buffer.compare)
      for (let step = 0; step < steps; step += 1) {
        // First it grows, then it shrinks.
        const adds = random.below(100) < (step < steps / 2 ? 85 : 20)
        const known = model.size > 0 && random.below(5) > 0 ? random.oneOf([...model.values()]) : undefined
        const member = !adds && known ? known : randomMember(random, step)
        const name = member.toString('latin1')
        const expected = Number(model.has(name) !== adds)
        const outcome = await (adds ? addMember : removeMember)(redis, [list], [member])
        expect(outcome).to.equal(expected)
        if (adds) model.set(name, member)
        else model.delete(name)
        if (step % 10 > 0) continue
        const range = randomRange(random, sorted())
        expect(await readMembers(redis, list, range)).to.deep.equal(inRange(sorted(), range))
      }
      expect(await read('up', 7)).to.deep.equal(sorted())
      expect(await read('down', 130)).to.deep.equal(sorted().reverse())
      for (const member of sorted()) await removeMember(redis, [list], [member])
      expect(await keysOf()).to.deep.equal([])
    })

  it(`is a sorted set of bytes, after random changes of many members at once`, async function () {
    this.timeout(120_000)
    const random = seededRandom(4)
    const model = new Map<string, Buffer>()
    const sorted = (members: Iterable<Buffer>) => [...members].sort(Buffer.compare)
    for (let step = 0; step < 60; step += 1) {
      const adds = random.below(100) < (step < 30 ? 85 : 20)
      const known = sorted(model.values())
      // A part of the batches is behind all others, in their order, as keys of a new partition are.
      const isLast = random.below(4) === 0
      const member = (i: number) =>
        known.length > 0 && random.below(adds ? 9 : 2) === 0
          ? random.oneOf(known)
          : isLast
            ? Buffer.from(`\xff${1e6 + step * 1000 + i}`, 'latin1')
            : randomMember(random, step * 1000 + i)
      const batch = Array.from({ length: random.oneOf([1, 5, 40, 400]) }, (_, i) => member(i))
      const some = new Map(batch.map((one) => [one.toString('latin1'), one]))
      const unchanged = [...some.values()].filter((one) => model.has(one.toString('latin1')) === adds)
      const outcome = await (adds ? addMembers : removeMembers)(redis, [list], [...some.values()])
      expect(sorted(outcome as Buffer[])).to.deep.equal(sorted(unchanged))
      for (const [name, one] of some)
        if (adds) model.set(name, one)
        else model.delete(name)
      expect(await read('up', 500)).to.deep.equal(sorted(model.values()))
      if (step % sized(5, 1) > 0) continue
      for (const key of await redis.client.keysBuffer(`${list}/*`))
        expect(await redis.client.object('ENCODING', key)).to.equal('listpack')
    }
    await removeMembers(redis, [list], [...model.values()])
    expect(await keysOf()).to.deep.equal([])
  })

  it('fills leaves completely with members in their order, many at once', async () => {
    const members = Array.from({ length: 1000 }, (_, i) => `m${10_000 + i}`)
    for (let from = 0; from < 1000; from += 50)
      await addMembers(redis, [list], members.slice(from, from + 50))
    expect(await redis.client.zcard(`${list}:leaves`)).to.equal(Math.ceil(1000 / 128))
    // More than a function of Lua can return.
    const others = Array.from({ length: 9000 }, (_, i) => `n${10_000 + i}`)
    await addMembers(redis, [list], others)
    expect(await redis.client.zcard(`${list}:leaves`)).to.equal(Math.ceil(10_000 / 128))
    expect((await read('up', 10_000)).map(String)).to.deep.equal([...members, ...others])
  })

  it('divides leaves by half for descending members behind a full leaf', async () => {
    const first = Array.from({ length: 128 }, (_, i) => `a${1000 + i}`)
    const others = Array.from({ length: 1000 }, (_, i) => `b${9000 - i}`)
    await Promise.all([...first, ...others].map((member) => addMember(redis, [list], [member])))
    expect(await redis.client.zcard(`${list}:leaves`)).to.be.at.most(2 * (1128 / 64))
    expect((await read('up', 1000)).map(String)).to.deep.equal([...first, ...others.reverse()])
  })

  it('continues when a leaf has been lost', async () => {
    const members = Array.from({ length: 256 }, (_, i) => `m${1000 + i}`)
    for (const member of members) await addMember(redis, [list], [member])
    await redis.client.del(`${list}/m1128`)
    for (const member of members.slice(0, 112)) await removeMember(redis, [list], [member])
    expect((await read('up', 1000)).map(String)).to.deep.equal(members.slice(112, 128))
  })

  it('has its first leaf again when the other keys have been lost, also by many members at once', async () => {
    await addMember(redis, [list], ['m1'])
    await redis.client.del(`${list}:leaves`)
    await addMembers(redis, [list], ['m2', 'm3'])
    expect((await read('up', 10)).map(String)).to.deep.equal(['m1', 'm2', 'm3'])
  })

  it('does not take over a leaf outside the list when many members divide one', async () => {
    await redis.client.zadd(`${list}/m1128`, 0, 'm1128x')
    const members = Array.from({ length: 256 }, (_, i) => `m${1000 + i}`)
    await addMembers(redis, [list], members)
    expect((await read('up', 1000)).map(String)).to.deep.equal(members)
  })

  it('joins leaves when most of their members are removed', async () => {
    const members = Array.from({ length: 2000 }, (_, i) => `m${10_000 + i}`)
    await Promise.all(members.map((member) => addMember(redis, [list], [member])))
    const removed = members.filter((_, i) => i % 50 > 0)
    for (let from = 0; from < removed.length; from += 100) {
      const some = removed.slice(from, from + 100)
      await Promise.all(some.map((member) => removeMember(redis, [list], [member])))
    }
    expect((await keysOf()).length).to.be.at.most(5)
    expect(await read('up', 1000)).to.have.length(40)
  })

  it('has no leaf that Redis does not store compactly', async () => {
    const random = seededRandom(7)
    const members = Array.from({ length: 1000 }, () => `${random.below(1e9)}`.padStart(64, 'x'))
    await Promise.all(members.map((member) => addMember(redis, [list], [member])))
    for (const key of await redis.client.keys(`${list}/*`))
      expect(await redis.client.object('ENCODING', key)).to.equal('listpack')
  })

  describe('on its own Redis', () => {
    let server: RedisServer
    let own: RedisConnection

    beforeEach(async () => {
      server = await startRedis()
      own = connectRedis({ url: server.url })
      await own.ready()
    })
    afterEach(async () => {
      await own.close()
      await server.remove()
    })

    it('removes members when Redis is full', async () => {
      const members = [...Array.from({ length: 300 }, (_, i) => `m${1000 + i}`), 'x'.repeat(65)]
      for (const member of members) await addMember(own, [list], [member])
      await own.client.config('SET', 'maxmemory', '1')
      for (const member of members) expect(await removeMember(own, [list], [member])).to.equal(1)
      expect(await own.client.dbsize()).to.equal(0)
    })

    it('takes at most 40 bytes of memory for a random member of 23 bytes', async () => {
      const random = seededRandom(1)
      const members = Array.from({ length: 5000 }, () =>
        Buffer.from(Array.from({ length: 23 }, () => random.below(256))),
      )
      await Promise.all(members.map((member) => addMember(own, [list], [member])))
      let bytes = 0
      for (const key of await own.client.keysBuffer('*'))
        bytes += (await own.client.memory('USAGE', key, 'SAMPLES', '0')) ?? Number.NaN
      expect(bytes / members.length).to.be.below(40)
    })
  })
})

/** Of few lengths and bytes, so that many are alike. About one of 20 is longer than a leaf takes. */
function randomMember(random: Random, step: number): Buffer {
  const bytes = random.oneOf([0, 10, 65, 127, 128, 200, 255])
  const length = random.below(20) === 0 ? 65 + random.below(10) : 1 + random.below(64)
  const member = Buffer.alloc(length, bytes)
  member[random.below(length)] = random.below(256)
  if (length > 4) member.writeUInt16BE(step % 65_536, length - 2)
  return member
}

function randomRange(random: Random, members: readonly Buffer[]): MemberRange {
  const bound = () =>
    random.below(4) === 0
      ? undefined
      : random.below(2)
        ? randomMember(random, 0)
        : members[random.below(members.length)]
  const [above, last] = [bound(), bound()]
  return {
    direction: random.oneOf(['up', 'down'] as const),
    limit: random.oneOf([1, 3, 100, 1000]),
    above,
    ...(random.below(2) ? { below: last } : { upTo: last }),
  }
}

function inRange(
  members: readonly Buffer[],
  { direction, limit, above, below, upTo }: MemberRange,
): Buffer[] {
  const order = (one: Buffer, other: MemberRange['above']) => Buffer.compare(one, other as Buffer)
  const found = members.filter(
    (one) =>
      (above === undefined || order(one, above) > 0) &&
      (below === undefined || order(one, below) < 0) &&
      (upTo === undefined || order(one, upTo) <= 0),
  )
  return (direction === 'down' ? found.reverse() : found).slice(0, limit)
}
