import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { ClassicLevel } from 'classic-level'
import { NO_RESERVE } from '../../../../src/adapters/disk/disk-reserve.ts'
import { embeddedIndex } from '../../../../src/adapters/file-index/embedded/embedded.ts'
import { derivativeKey, storedKey } from '../../../../src/core/files/object-key.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import type { Overdue } from '../../../../src/core/ports/index/steps.ts'
import { storageFull } from '../../../../src/core/problem.ts'
import { fileIndexContract } from '../../../contracts/file-index/file-index.ts'
import { compareWithModel } from '../../../contracts/file-index/file-index-model.ts'
import { FOREVER } from '../../../contracts/file-index/file-index-states.ts'
import { seededRandom } from '../../../contracts/random.ts'
import { rejection } from '../../../support/rejection.ts'
import { sized } from '../../../support/sized.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const NOW = 1_800_000_000_000
const LATER = NOW + 3_600_000

const REF = { clientId: 'first', key: storedKey('a/image/png/7uLqEUXG4WpoGGa38h2U9Z.png') }
const OTHER = { clientId: 'first', key: storedKey('b/image/png/7uLqEUXG4WpoGGa38h2U9Z.png') }
const W100 = derivativeKey(REF.key, 'w=100')
const RECORD = {
  key: REF.key,
  originalName: 'a.png',
  mediaType: 'image/png',
  size: 1,
  sha256: '00',
  storedAt: NOW,
}

fileIndexContract(
  'embedded',
  async () => {
    const folder = await temporaryFolder()
    const index = await embeddedIndex(join(folder, 'index'))
    return {
      index,
      elsewhere: index,
      async close() {
        await index.close()
        await rm(folder, { recursive: true })
      },
    }
  },
  { steps: 10_000 },
)

describe('embedded: the index after a restart', () => {
  let folder: string
  let index: FileIndex

  beforeEach(async () => {
    folder = await temporaryFolder()
    index = await embeddedIndex(join(folder, 'index'))
  })
  afterEach(async () => {
    await index.close()
    await rm(folder, { recursive: true })
  })

  async function reopen(): Promise<void> {
    await index.close()
    index = await embeddedIndex(join(folder, 'index'))
  }

  it('has every entry unchanged', async () => {
    await index.adopt(REF.clientId, RECORD)
    const derived = { key: W100, mediaType: 'image/webp', size: 3 }
    await index.finishDerivative(REF, derived)
    await index.beginUpload(OTHER, LATER)
    await reopen()
    expect(await index.find(REF, W100)).to.deep.equal({
      original: { state: 'stored', record: RECORD },
      derivative: { state: 'stored', record: derived },
    })
    expect(await index.find(OTHER)).to.deep.equal({ original: { state: 'pending', leaseUntil: LATER } })
  })

  it('counts the derivatives that the former process had begun', async () => {
    await index.adopt(REF.clientId, RECORD)
    const begin = (variant: string) =>
      index.beginDerivative(REF, derivativeKey(REF.key, variant), LATER, { atMost: 1 })
    expect(await begin('w=100')).to.equal('begun')
    await reopen()
    expect(await begin('w=200')).to.equal('full')
  })

  it('writes each step at once, and flushes it before it resolves, except for derivatives', async () => {
    const { batch } = ClassicLevel.prototype
    const written: unknown[] = []
    ClassicLevel.prototype.batch = function (this: unknown, ...args: unknown[]) {
      written.push(args[1])
      return Reflect.apply(batch, this, args)
    } as typeof batch
    try {
      await index.beginUpload(REF, NOW)
      await index.beginUpload(OTHER, NOW)
      await index.renewUpload([REF, OTHER], NOW)
      await index.finishUpload(REF.clientId, [RECORD, { ...RECORD, key: OTHER.key }])
      await index.beginDerivative(REF, W100, LATER)
      await remove(index, 'delete')
      await index.finishRemoval(REF, NOW)
      await index.dropDerivative(REF, W100, FOREVER)
    } finally {
      ClassicLevel.prototype.batch = batch
    }
    const flushed = written.map((options) => (options as { sync: boolean }).sync)
    expect(flushed).to.deep.equal([true, true, true, true, false, true, true, true])
  })

  it('names its data on a full disk, too, since each delete asks for the name', async () => {
    await index.close()
    const full = { isIntact: () => false, restored: () => Promise.reject(storageFull(undefined)) }
    const reserve = { ...NO_RESERVE, ...full }
    index = await embeddedIndex(join(folder, 'index'), { reserve })
    expect((await index.run()).data).to.equal((await index.run()).data)
  })

  it('counts the lease of an upload of a dead process as expired', async () => {
    await index.beginUpload(REF, LATER)
    expect(await overdue(index)).to.deep.equal([])
    await reopen()
    expect(await overdue(index)).to.deep.equal([{ kind: 'original', ref: REF }])
    expect(await remove(index, 'sweep')).to.deep.equal([])
    expect(await overdue(index), 'the sweep has a lease of its own').to.deep.equal([])
    expect(await remove(index, 'sweep')).to.equal(undefined)
  })

  it('counts the lease of a delete of a dead process as expired', async () => {
    await index.adopt(REF.clientId, RECORD)
    await remove(index, 'delete')
    await reopen()
    expect(await overdue(index)).to.deep.equal([{ kind: 'original', ref: REF }])
    expect(await remove(index, 'sweep')).to.deep.equal([])
    await index.finishRemoval(REF, NOW)
    expect(await index.find(REF)).to.deep.equal({})
    await reopen()
    expect(await overdue(index)).to.deep.equal([])
  })

  it('counts the deadline of a transformation of a dead process as expired', async () => {
    await index.adopt(REF.clientId, RECORD)
    await index.beginDerivative(REF, W100, LATER)
    await reopen()
    expect(await overdue(index)).to.deep.equal([
      { kind: 'derivative', ref: REF, derivative: W100, deadline: LATER },
    ])
    await index.beginDerivative(REF, W100, LATER)
    expect(await overdue(index), 'begun anew by the living').to.deep.equal([])
    await index.dropDerivative(REF, W100, FOREVER)
    await index.beginDerivative(REF, W100, LATER)
    expect(await overdue(index), 'the name alone inherits nothing').to.deep.equal([])
  })

  it('needs no tombstone for a transformation of a dead process', async () => {
    await index.adopt(REF.clientId, RECORD)
    await index.beginDerivative(REF, W100, LATER)
    await reopen()
    expect(await remove(index, 'delete')).to.deep.equal([W100])
    await index.finishRemoval(REF, NOW)
    expect(await index.find(REF, W100)).to.deep.equal({})
  })

  it('gives the tombstones of a dead process to the sweep at once', async () => {
    await index.adopt(REF.clientId, RECORD)
    await index.beginDerivative(REF, W100, LATER)
    await remove(index, 'delete')
    await index.finishRemoval(REF, NOW)
    expect(await index.find(REF)).to.deep.equal({ original: { state: 'gone' } })
    expect(await overdue(index)).to.deep.equal([])
    await reopen()
    expect(await overdue(index)).to.deep.equal([{ kind: 'original', ref: REF }])
    expect(await remove(index, 'sweep')).to.deep.equal([W100])
    await index.finishRemoval(REF, NOW)
    expect(await index.find(REF, W100)).to.deep.equal({})
  })

  it('retains the tombstone of a transformation that the live process has begun', async () => {
    await index.adopt(REF.clientId, RECORD)
    const dead = derivativeKey(REF.key, 'dead')
    await index.beginDerivative(REF, dead, LATER)
    await reopen()
    await index.beginDerivative(REF, W100, LATER)
    await remove(index, 'delete')
    await index.finishRemoval(REF, NOW)
    expect(await index.find(REF, W100)).to.deep.equal({
      original: { state: 'gone' },
      derivative: { state: 'pending', deadline: LATER },
    })
    expect(await index.find(REF, dead)).to.deep.equal({ original: { state: 'gone' } })
  })

  it('lets the live process renew and finish entries that it has found', async () => {
    await index.beginUpload(REF, NOW)
    await index.beginUpload(OTHER, NOW)
    await reopen()
    await index.renewUpload([OTHER], LATER)
    expect(await overdue(index)).to.deep.equal([{ kind: 'original', ref: REF }])
    expect(await index.finishUpload(REF.clientId, [RECORD])).to.equal(true)
    expect(await overdue(index)).to.deep.equal([])
  })

  // With this seed, it meets every state in this many steps.
  const steps = sized(1300, 4000)

  it(`behaves as a map in memory, in ${steps} random steps, with reopenings in between`, async () => {
    let reopened = 0
    await compareWithModel({
      open: () => index,
      async reopen() {
        reopened += 1
        await reopen()
      },
      steps,
      random: seededRandom(6),
    })
    expect(reopened).to.be.above(sized(9, 30))
  })

  it('belongs to one process: a second opening fails with LEVEL_LOCKED', async () => {
    const error = (await rejection(embeddedIndex(join(folder, 'index')))) as Error
    expect(error.cause).to.have.property('code', 'LEVEL_LOCKED')
    await index.ping()
    await reopen()
  })

  it('creates its parent folders', async () => {
    const deep = await embeddedIndex(join(folder, 'not', 'there', 'yet'))
    await deep.beginUpload(REF, NOW)
    await deep.close()
  })

  it('fails the ping after it was closed', async () => {
    const closed = await embeddedIndex(join(folder, 'another'))
    await closed.ping()
    await closed.close()
    expect(await rejection(closed.ping())).to.be.instanceOf(Error)
    expect(await rejection(closed.find(REF))).to.be.instanceOf(Error)
  })

  /** The names of all rows, read without the index. */
  async function rows(): Promise<string[]> {
    await index.close()
    const level = new ClassicLevel(join(folder, 'index'))
    const names = await level.keys().all()
    await level.close()
    index = await embeddedIndex(join(folder, 'index'))
    return names.map((name) => name.replaceAll('\0', ' '))
  }

  it('marks unsettled entries, so that a sweep reads only these', async () => {
    await index.beginUpload(REF, NOW)
    expect(await rows()).to.deep.equal([`o first ${REF.key}`, `u o first ${REF.key}`])
    await index.finishUpload(REF.clientId, [RECORD])
    await index.beginDerivative(REF, W100, NOW)
    const listed = [
      ...[`key ${REF.key}`, `name a.png\n${REF.key}`, `sha256 00 ${REF.key}`],
      ...[`size ${'0'.repeat(15)}1 ${REF.key}`, `storedAt 00${NOW} ${REF.key}`],
    ]
    const folders = ['f first stored  ', 'f first stored  a']
    const terms = ['na.png\n', 'ng\nn', 'npng\n.'].map((term) => `s first ${term} ${REF.key}`)
    const settled = [
      `d first ${REF.key} ${W100}`,
      ...folders,
      ...listed.map((position) => `l first stored ${position}`),
      `o first ${REF.key}`,
      ...terms,
    ]
    expect(await rows()).to.deep.equal([...settled, `u d first ${REF.key} ${W100}`])
    await index.finishDerivative(REF, { key: W100, mediaType: 'image/webp', size: 3 })
    const used = [
      'b first',
      `b first ${REF.key}`,
      ...settled.slice(0, 3),
      `k first ${REF.key} ${W100}`,
      ...settled.slice(3),
      `w first ${'0'.repeat(16)} ${REF.key} ${W100}`,
    ]
    expect(await rows()).to.deep.equal(used)
  })

  it('counts derivatives that an earlier version has not counted, once', async () => {
    await index.adopt(REF.clientId, RECORD)
    await index.finishDerivative(REF, { key: W100, mediaType: 'image/webp', size: 3 })
    await index.close()
    const level = new ClassicLevel(join(folder, 'index'))
    for (const kind of ['b', 'k', 'w']) await level.clear({ gte: `${kind}\0`, lt: `${kind}\x01` })
    await level.close()
    index = await embeddedIndex(join(folder, 'index'))
    expect(await index.derivedBytes(REF)).to.deep.equal({ client: 0, original: 0 })
    for (const _ of [1, 2]) await index.countDerivatives(REF)
    expect(await index.derivedBytes(REF)).to.deep.equal({ client: 3, original: 3 })
    expect((await index.leastUsed(REF, 5)).map(({ key }) => key)).to.deep.equal([W100])
  })

  it('lists originals for which an earlier version has stored no list, when they are adopted', async () => {
    await index.adopt(REF.clientId, RECORD)
    await index.markComplete()
    await index.close()
    const level = new ClassicLevel(join(folder, 'index'))
    await level.clear({ gte: 'l\0', lt: 'l\x01' })
    await level.del('complete')
    await level.close()
    index = await embeddedIndex(join(folder, 'index'))
    const page = () => index.page(REF.clientId, { state: 'stored', by: 'storedAt', limit: 9 })
    expect(await index.isComplete()).to.equal(false)
    expect((await page()).files).to.deep.equal([])
    expect(await index.adopt(REF.clientId, { ...RECORD, size: 2 })).to.deep.equal({
      state: 'stored',
      record: RECORD,
    })
    expect((await page()).files.map(({ record }) => record)).to.deep.equal([RECORD])
    expect((await index.totals(REF.clientId)).stored).to.deep.equal({ files: 1, bytes: 1 })
  })

  it('finds originals for which an earlier version has stored no search terms, when they are adopted', async () => {
    await index.adopt(REF.clientId, RECORD)
    await index.markComplete()
    await index.close()
    const level = new ClassicLevel(join(folder, 'index'))
    await level.clear({ gte: 's\0', lt: 's\x01' })
    await level.del('searchable')
    await level.close()
    index = await embeddedIndex(join(folder, 'index'))
    const search = () => index.search(REF.clientId, { name: 'a.p' }, { most: 9 })
    expect([await index.isComplete(), await index.canSearch()]).to.deep.equal([true, false])
    expect([await search(), await index.isSearchable(REF.clientId, RECORD)]).to.deep.equal([[], false])
    await index.adopt(REF.clientId, RECORD)
    expect([await search(), await index.isSearchable(REF.clientId, RECORD)]).to.deep.equal([[REF.key], true])
    expect((await index.folderCount(REF.clientId, 'stored', '')).files).to.equal(1)
  })

  it('counts folders that an earlier version has not counted, while other files are added', async () => {
    await index.adopt(REF.clientId, RECORD)
    await index.markComplete()
    await index.close()
    const level = new ClassicLevel(join(folder, 'index'))
    await level.clear({ gte: 'f\0', lt: 'f\x01' })
    await level.del('counted')
    await level.close()
    index = await embeddedIndex(join(folder, 'index'))
    expect([await index.isComplete(), await index.isCounted()]).to.deep.equal([true, false])
    expect(await index.recount(REF.clientId, { repair: false })).to.have.deep.members([
      { state: 'stored', folder: '' },
      { state: 'stored', folder: 'a' },
    ])
    const [wrong] = await Promise.all([
      index.recount(REF.clientId, { repair: true }),
      index.adopt(OTHER.clientId, { ...RECORD, key: OTHER.key }),
    ])
    expect(wrong).to.not.be.empty
    expect((await index.folderCount(REF.clientId, 'stored', '')).files).to.equal(2)
    expect(await index.recount(REF.clientId, { repair: false })).to.deep.equal([])
  })

  it('leaves no row when everything is deleted', async () => {
    await index.beginUpload(REF, NOW)
    await index.finishUpload(REF.clientId, [RECORD])
    await index.beginDerivative(REF, W100, NOW)
    await index.finishDerivative(REF, { key: W100, mediaType: 'image/webp', size: 3 })
    await index.beginDerivative(REF, derivativeKey(REF.key, 'w=200'), LATER)
    await remove(index, 'delete')
    await index.finishRemoval(REF, NOW)
    await index.dropDerivative(REF, derivativeKey(REF.key, 'w=200'), FOREVER)
    await index.adopt(REF.clientId, RECORD)
    await index.trash(REF, { at: NOW, until: LATER })
    await remove(index, 'purge')
    await index.finishRemoval(REF, NOW)
    expect(await rows()).to.deep.equal([])
  })
})

async function remove(index: FileIndex, cause: 'delete' | 'purge' | 'sweep') {
  return index.beginRemoval(REF, { cause, leaseUntil: LATER, now: NOW })
}

async function overdue(index: FileIndex): Promise<Overdue[]> {
  const items: Overdue[] = []
  for await (const item of index.overdue(NOW)) items.push(item)
  return items
}

describe('the run of an embedded index', () => {
  it('is the same after it was opened again, and another one after its folder was deleted', async () => {
    const folder = await temporaryFolder()
    const runOf = async () => {
      const index = await embeddedIndex(folder)
      const { id } = await index.run()
      await index.close()
      return id
    }
    const first = await runOf()
    expect(await runOf()).to.equal(first)
    await rm(folder, { recursive: true })
    // Systems without a boot ID name no runs.
    const second = await runOf()
    expect(second === undefined || second !== first).to.equal(true)
    await rm(folder, { recursive: true })
  })
})
