import { expect } from 'chai'
import { fenceOf } from '../../../../src/adapters/file-index/fence.ts'
import { firstPartition, partitionNumber } from '../../../../src/adapters/file-index/partitioned/division.ts'
import { movesNoted } from '../../../../src/adapters/file-index/partitioned/moves-noted.ts'
import { clusterIndex } from '../../../../src/adapters/file-index/partitioned/redis-cluster.ts'
import { refNamed } from '../../../../src/adapters/file-index/redis/names.ts'
import type { FileRef } from '../../../../src/core/files/file-ref.ts'
import { derivativeKey } from '../../../../src/core/files/object-key.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import type { PartitionCount } from '../../../../src/core/ports/index/partitioning.ts'
import {
  compareWithModel,
  createIndexModel,
  listed,
  listOf,
} from '../../../contracts/file-index/file-index-model.ts'
import {
  AHEAD,
  adopted,
  d,
  derived,
  NOW,
  newRef,
  record,
  STATES,
} from '../../../contracts/file-index/file-index-states.ts'
import { seededRandom } from '../../../contracts/random.ts'
import { rejection } from '../../../support/rejection.ts'
import { sized } from '../../../support/sized.ts'
import { contentOf, keysOf, moveOptions, movingIndexes, TIMES } from './moving.ts'

describe('a move of a client to other partitions', function () {
  this.timeout(120_000)
  const opened = movingIndexes()

  it('changes nothing that is seen of the index, however often it is interrupted and continued', async () => {
    const [here, there] = [opened().process(), opened().process({ late: seededRandom(3) })]
    const [random, moves] = [seededRandom(20_260_101), seededRandom(7)]
    const interrupted = new Error('interrupted')
    const seen = new Set<string>()
    await compareWithModel({
      open: () => random.oneOf([here, there]).index,
      async move(clients) {
        if (moves.below(sized(4, 8)) > 0) return undefined
        const clientId = moves.oneOf(clients)
        const { partitioning } = moves.oneOf([here, there])
        const { partitions, movingTo } = await partitioning.of(clientId)
        const to = movingTo ?? (partitions === 1 ? 64 : 1)
        const most = moves.below(3)
        const stop = new AbortController()
        if (most === 0) setImmediate(() => stop.abort(interrupted))
        const options = moveOptions({
          signal: stop.signal,
          async progress({ phase, files }) {
            if (phase === 'moving' && files >= most) stop.abort(interrupted)
          },
        })
        const move = partitioning.move(clientId, to as 1 | 64, options)
        const end = await move.then(
          () => 'complete',
          (error) => {
            if (error !== interrupted) throw error
            return 'interrupted'
          },
        )
        seen.add(`${movingTo === undefined ? 'begun' : 'continued'} to ${to}: ${end}`)
        return `move ${clientId} to ${to}: ${end} after ${most}`
      },
      steps: sized(200, 3000),
      random,
    })
    expect([...seen]).to.include.members(
      ['1', '64'].flatMap((to) => [
        `begun to ${to}: complete`,
        `begun to ${to}: interrupted`,
        `continued to ${to}: complete`,
      ]),
    )
  })

  it('moves files of every state with all that belongs to them, and back again without a difference', async () => {
    const { process, keyspaces, move } = opened()
    const { index } = process()
    const clientId = 'sch öp'
    const refOf = () => newRef(clientId)
    for (const state of Object.values(STATES))
      for (let i = 0; i < sized(2, 4); i += 1) await state(index, refOf())
    for (let i = 0; i < 8; i += 1) await fill(index, refOf(), i)
    const home = keyspaces[partitionNumber(newRef(clientId), 1)] as (typeof keyspaces)[0]
    const before = await contentOf(home)
    const seen = await shownOf(index, clientId)
    expect(seen.overdue).to.have.length.above(10)
    expect(seen.changes).to.have.length(8)

    await move(clientId, 64)
    expect(await shownOf(process().index, clientId)).to.deep.equal(seen)
    let places = 0
    for (const [number, keyspace] of keyspaces.entries())
      for (const name of Object.keys(await contentOf(keyspace))) {
        if (!name.startsWith('file:')) continue
        expect(partitionNumber(refNamed(name.slice('file:'.length)), 64), name).to.equal(number)
        places += 1
      }
    expect(places).to.equal(Object.keys(before).filter((name) => name.startsWith('file:')).length)

    await move(clientId, 1)
    expect(await contentOf(home)).to.deep.equal(before)
    for (const keyspace of keyspaces)
      if (keyspace !== home) expect(await contentOf(keyspace)).to.deep.equal({})
  })

  it('does nothing when the client has this number, and refuses another one before it is complete', async () => {
    const { process, begin } = opened()
    const { index, partitioning } = process()
    const options = moveOptions()
    await index.adopt('one', record(newRef('one').key, 'a'))
    expect(await partitioning.move('one', 1, options)).to.deep.equal({
      partitions: 1,
      isChanged: false,
      files: 0,
    })
    await begin('one', 64)
    expect(await partitioning.of('one')).to.deep.equal({ partitions: 1, movingTo: 64 })
    expect(await partitioning.moves()).to.equal(1)
    expect(await rejection(partitioning.move('one', 1, options))).to.include({
      message: 'expected a move to 64 partitions, which is not complete, received 1',
    })
    await partitioning.move('one', 64, options)
    expect(await partitioning.of('one')).to.deep.equal({ partitions: 64 })
    expect(await partitioning.moves()).to.equal(0)
  })

  it('ends for a client that was removed, and leaves no set of deleted files', async () => {
    const { process, begin, keyspaces, divisions } = opened()
    const { index, partitioning } = process()
    const refs = Array.from({ length: 6 }, () => newRef('one'))
    for (const ref of refs) await adopted(index, ref)
    await begin('one', 64)
    for (const ref of refs) {
      await index.beginRemoval(ref, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
      await index.finishRemoval(ref, NOW)
    }
    const sets = async () => {
      const found = keyspaces.map(({ redis, keyPrefix }) =>
        redis.send((client) => client.exists(`${fenceOf(keyPrefix, 'one')}deleted`)),
      )
      return (await Promise.all(found)).reduce((sum, count) => sum + count, 0)
    }
    expect(await sets()).to.be.above(0)
    await partitioning.end('one')
    expect(await sets()).to.equal(0)
    expect(await divisions.read('one')).to.deep.equal({ from: 64, to: 64, epoch: 2 })
    expect(await movesNoted(keyspaces).of('one')).to.equal('64@2')
    await partitioning.end('never-moved')
    expect(await movesNoted(keyspaces).of('never-moved')).to.equal(null)
  })

  it('stores no number for a client that it only shows', async () => {
    const { process, cluster } = opened()
    expect(await process().partitioning.of('not-yet-used')).to.deep.equal({ partitions: 1 })
    for (const node of cluster.nodes)
      expect(await cluster.ask(node, 'KEYS', '*partitions:not-yet-used*')).to.deep.equal([])
  })

  it('does not bring back the files of an earlier move whose record a node has lost', async () => {
    const { process, keyspaces, move } = opened()
    const { index } = process()
    // A file of the first partition stays where it is.
    const mayMove = (ref: FileRef) => partitionNumber(ref, 64) !== partitionNumber(ref, 1)
    const refs = Array.from({ length: 12 }, () => newRef('one'))
      .filter(mayMove)
      .slice(0, 6)
    for (const { key } of refs) await index.adopt('one', record(key, 'old'))
    await move('one', 64)
    const home = keyspaces[partitionNumber(refs[0] as FileRef, 1)] as (typeof keyspaces)[0]
    await home.redis.send((client) => client.del(`${home.keyPrefix}partitions:one/`))
    const { redis, keyPrefix } = keyspaces[0] as (typeof keyspaces)[0]
    await redis.send((client) => client.del(`${keyPrefix}moves`))
    // The index is filled from the bucket, where half of the files are left.
    const later = process().index
    for (const { key } of refs.slice(3)) await later.adopt('one', record(key, 'new'))
    await move('one', 64)
    const { files } = await process().index.page('one', { state: 'stored', by: 'key', limit: 10 })
    expect(files.map((file) => `${file.record.key} ${file.record.originalName}`)).to.deep.equal(
      refs
        .slice(3)
        .map(({ key }) => `${key} new`)
        .sort(),
    )
  })

  it('has each file in the list of all files, though the files move while its nodes are read', async () => {
    const { keyspaces, begin, move, process } = opened()
    // Its files are on the last node that is read.
    let clientId = 'a'
    while (firstPartition(clientId) < 50) clientId += 'a'
    const refs = Array.from({ length: 30 }, () => newRef(clientId))
    for (const ref of refs) await adopted(process().index, ref)
    let waiting: FileRef[] = []
    /** A process that reads while another one moves the files. */
    const reader = () => {
      const mover = process().index
      const moving = keyspaces.map(({ redis, keyPrefix }) => ({
        keyPrefix,
        redis: {
          ...redis,
          async send<T>(command: (client: typeof redis.client) => Promise<T>): Promise<T> {
            const answer = await redis.send(command)
            const some = waiting.splice(0, 10)
            for (const ref of some) await mover.noteUse(ref, d(ref), { at: NOW, isHeld: false })
            return answer
          },
        },
      }))
      return clusterIndex(moving, { perClient: 1, times: TIMES }).index
    }
    const expected = refs.map(({ key }) => `${clientId} ${key}`).sort()
    await begin(clientId, 64)
    waiting = [...refs]
    expect(Object.keys(await listOf(reader(), clientId)).sort()).to.deep.equal(expected)
    expect(waiting).to.deep.equal([])
    await move(clientId, 64)
    await begin(clientId, 1)
    waiting = [...refs]
    expect(Object.keys(await listOf(reader())).sort()).to.deep.equal(expected)
  })

  it('takes no step away from processes that change and list the files at the same time', async () => {
    const { process, move } = opened()
    const processes = [process({ late: seededRandom(1) }), process({ late: seededRandom(2) })]
    const indexOf = (i: number) => (processes[i % 2] as (typeof processes)[0]).index
    const stable = Array.from({ length: 30 }, () => newRef('one'))
    for (const { key } of stable) await indexOf(0).adopt('one', record(key, 'stable'))
    const changed = Array.from({ length: sized(12, 30) }, () => newRef('one'))
    const model = createIndexModel()
    const random = seededRandom(11)
    let isMoving = true
    const work = async (ref: FileRef, i: number) => {
      for (let n = 0; isMoving || n < 10; n += 1) {
        const [one, other] = stepOn(ref, { n: i + n, index: indexOf(n), model, kind: random.below(9) })
        expect(JSON.stringify(await one())).to.equal(JSON.stringify(other()))
      }
    }
    let listings = 0
    const list = async () => {
      while (isMoving || listings === 0) {
        const keys = await keysOf(indexOf(listings), 'one')
        const found = keys.filter((key) => stable.some((ref) => ref.key === key))
        expect(found).to.deep.equal(stable.map(({ key }) => key).sort())
        listings += 1
      }
    }
    const moving = async () => {
      try {
        for (const to of sized<PartitionCount[]>([64, 1], [64, 1, 64, 1, 64])) await move('one', to)
      } finally {
        isMoving = false
      }
    }
    await Promise.all([moving(), list(), ...changed.map(work)])
    const all = await listOf(process().index, 'one')
    for (const { key } of stable) delete all[`one ${key}`]
    expect(all).to.deep.equal(model.list('one'))
    const expected = model.listed('one', { state: 'trashed', by: 'name' })
    expect(await listed(indexOf(0), 'one', { state: 'trashed', by: 'name', limit: 4 })).to.deep.equal(
      expected,
    )
    const { trashed, stored } = await indexOf(1).totals('one')
    expect(trashed.files).to.equal(expected.length)
    expect(stored.files).to.equal(30 + model.listed('one', { state: 'stored', by: 'key' }).length)
    expect(await indexOf(0).recount('one', { repair: false })).to.deep.equal([])
    const bytes = model.used('one').reduce((sum, one) => sum + one.bytes, 0)
    expect((await indexOf(0).derivedBytes(stable[0] as FileRef)).client).to.equal(bytes)
  })
})

/** A stored file with tags, a change in progress, and derivatives that are held, used and pending. */
async function fill(index: FileIndex, ref: FileRef, i: number): Promise<void> {
  const tagged = { ...record(ref.key, `Tägged ${i}`), tags: ['red', `n${i}`], size: 2 ** 40 + i }
  await index.adopt(ref.clientId, tagged)
  const keyOf = (name: string) => derivativeKey(ref.key, name)
  await index.finishDerivative(ref, derived(keyOf('held')), { at: NOW + i, isHeld: true })
  await index.finishDerivative(
    ref,
    { ...derived(keyOf('hls')), partsBytes: 5e9 },
    { at: NOW - i, isHeld: false },
  )
  await index.beginDerivative(ref, d(ref), NOW + 0.125 * i)
  await index.beginChange({ ref, until: NOW + i })
  if (i % 4 === 0) await index.trash(ref, { at: NOW, until: AHEAD + i })
}

/** All that the port shows of a client. */
async function shownOf(index: FileIndex, clientId: string) {
  const overdue: string[] = []
  for await (const item of index.overdue(NOW + 3)) overdue.push(JSON.stringify(item))
  const lists: unknown[] = []
  for (const state of ['stored', 'trashed'] as const)
    for (const by of ['key', 'storedAt', 'sha256', 'name', 'size'] as const)
      lists.push(await listed(index, clientId, { state, by, limit: 5 }))
  const terms = [{ name: 'ägged' }, { tag: 'red' }, { tag: 'n3' }]
  const found = []
  for (const term of terms) found.push([...((await index.search(clientId, term, { most: 99 })) ?? [])].sort())
  expect(found.map(({ length }) => length)).to.deep.equal([8, 8, 1])
  const uses = await index.leastUsed({ clientId }, 99)
  return {
    overdue: overdue.sort(),
    lists,
    found,
    uses: [...uses].sort((one, other) => (one.key < other.key ? -1 : 1)),
    bytes: await index.derivedBytes(newRef(clientId)),
    totals: await index.totals(clientId),
    folder: await index.folderCount(clientId, 'stored', 'a'),
    subfolders: await index.subfolders(clientId, { parent: '', limit: 5 }),
    changes: await index.overdueChanges(NOW + 99),
    files: await listOf(index, clientId),
  }
}

/** A step on a file, and the same one on the model. */
function stepOn(
  ref: FileRef,
  {
    n,
    index,
    model,
    kind,
  }: { n: number; index: FileIndex; model: ReturnType<typeof createIndexModel>; kind: number },
): [() => Promise<unknown>, () => unknown] {
  const file = { ...record(ref.key, `name ${n}`), size: n }
  const removal = { cause: 'purge', leaseUntil: AHEAD, now: NOW } as const
  const trash = { at: NOW, until: AHEAD }
  const use = { at: NOW + n, isHeld: n % 5 === 0 }
  const steps: Array<[() => Promise<unknown>, () => unknown]> = [
    [() => index.adopt('one', file), () => model.adopt('one', file)],
    [() => index.adopt('one', file, trash), () => model.adopt('one', file, trash)],
    [() => index.trash(ref, trash), () => model.trash(ref, trash)],
    [() => index.restore(ref, NOW), () => model.restore(ref, NOW)],
    [() => index.beginRemoval(ref, removal), () => model.beginRemoval(ref, removal)],
    [() => index.finishRemoval(ref, AHEAD + 9), () => model.finishRemoval(ref, AHEAD + 9)],
    [() => index.beginDerivative(ref, d(ref), AHEAD), () => model.beginDerivative(ref, d(ref), AHEAD)],
    [
      () => index.finishDerivative(ref, derived(d(ref)), use),
      () => model.finishDerivative(ref, derived(d(ref)), use),
    ],
    [() => index.beginEviction(ref, d(ref), AHEAD), () => model.beginEviction(ref, d(ref), AHEAD)],
  ]
  return steps[kind] as (typeof steps)[0]
}
