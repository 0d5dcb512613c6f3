import { expect } from 'chai'
import { derivativeKey, recordKey, storedKey } from '../../../../src/core/files/object-key.ts'
import { serializeRecord } from '../../../../src/service/originals/records.ts'
import { type ComparedStorage, openCompared, textKey } from '../../../support/stored/compared.ts'

const { signal } = new AbortController()
const AT = { at: 1, until: 9e12 }

describe('a comparison of index and bucket', () => {
  let storage: ComparedStorage
  beforeEach(async () => {
    storage = await openCompared()
    await storage.index.markComplete()
  })
  afterEach(() => storage.close())

  const refOf = (number: number) => ({ clientId: 'first', key: textKey(number) })
  const stateOf = async (number: number) => (await storage.index.find(refOf(number))).original?.state
  const smaller = (number: number) => derivativeKey(textKey(number), 'w=1')
  const bucket = () => storage.bucketOf('first')

  async function compare(): Promise<string[]> {
    bucket().calls.length = 0
    await storage.start().completion.complete(signal)
    expect(await storage.isCompared()).to.equal(true)
    return bucket().calls.toSorted()
  }
  /** After a comparison, so that the index has all tags. */
  async function storeAll(): Promise<void> {
    for (const number of [1, 2, 3]) await storage.store(textKey(number), { derivatives: [smaller(number)] })
    await storage.store(textKey(4), { trash: AT })
    await compare()
    storage.restart()
  }
  /** The numbers of the files whose objects were read. */
  const read = (calls: readonly string[]) =>
    [1, 2, 3, 4, 5].filter((number) =>
      calls.some((call) => call.startsWith('find') && call.includes(textKey(number))),
    )

  it('reads nothing of unchanged files, also of those in the trash: it only lists', async () => {
    await storeAll()
    // Parts of a bundle, whose number may be large, and objects of other programs and of the service itself.
    const entry = derivativeKey(textKey(2), 'hls/master.m3u8')
    const parts = ['master.m3u8', 'v0.m3u8', 'v0_0.m4s'].map((name) =>
      storedKey(`${derivativeKey(textKey(2), 'hls')}/${name}`),
    )
    for (const key of parts) bucket().objects.set(key, Buffer.from('x'))
    await storage.index.adoptDerivative(refOf(2), { key: entry, mediaType: 'x', size: 1, partsBytes: 2 })
    for (const key of ['.sluice/members.json', 'other program.txt', 'a/text/txt/other.txt', '~'])
      bucket().objects.set(storedKey(key), Buffer.from('x'))
    expect(await compare()).to.deep.equal(['list ', 'list ', 'list .sluice/meta/'])
  })

  it('reads each file once that has no tag yet, and none the next time', async () => {
    for (const number of [1, 2]) await storage.store(textKey(number))
    expect(read(await compare())).to.deep.equal([1, 2])
    storage.restart()
    expect(read(await compare())).to.deep.equal([])
  })

  it('copies a changed record into the index, and reads no other file', async () => {
    await storeAll()
    const { original } = await storage.index.find(refOf(2))
    if (original?.state !== 'stored') throw new Error('expected a stored original')
    const changed = { ...original.record, tags: ['new'] }
    bucket().objects.set(recordKey(textKey(2)), serializeRecord(changed))
    expect(read(await compare())).to.deep.equal([2])
    const { original: after } = await storage.index.find(refOf(2))
    expect(after).to.deep.include({ state: 'stored', record: changed })
    storage.restart()
    expect(read(await compare())).to.deep.equal([])
  })

  it('restores a file whose delete was interrupted, although its record is unchanged', async () => {
    await storeAll()
    await storage.index.trash(refOf(1), AT)
    expect(read(await compare())).to.deep.equal([1])
    expect(await stateOf(1)).to.equal('stored')
  })

  it('notices an original with another size', async () => {
    await storeAll()
    bucket().objects.set(textKey(3), Buffer.from('x'))
    expect(read(await compare())).to.deep.equal([3])
  })

  it('forgets a file only when the bucket has neither original nor record', async () => {
    await storeAll()
    const { objects } = bucket()
    for (const key of [textKey(1), recordKey(textKey(1)), smaller(1)]) objects.delete(key)
    objects.delete(recordKey(textKey(2)))
    objects.delete(textKey(3))
    const calls = await compare()
    expect(read(calls)).to.deep.equal([1, 3])
    expect(await Promise.all([1, 2, 3, 4].map(stateOf))).to.deep.equal([
      undefined,
      'stored',
      'stored',
      'trashed',
    ])
  })

  it('forgets a file of which only a derivative is left, and reports that one', async () => {
    await storeAll()
    for (const key of [textKey(1), recordKey(textKey(1))]) bucket().objects.delete(key)
    const { completion, log } = storage.start()
    await completion.complete(signal)
    expect(await stateOf(1)).to.equal(undefined)
    expect(completion.differences()).to.deep.equal({ added: 0, removed: 1, failed: 1 })
    const warnings = log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields)
    expect(warnings).to.deep.equal([
      { clientId: 'first', key: smaller(1), kind: 'derivative without original' },
    ])
  })

  it('adds derivatives of files in the trash, and of those whose upload has not ended within its lease', async () => {
    await storeAll()
    await storage.store(textKey(5), { indexed: false })
    await storage.index.beginUpload(refOf(5), 1)
    for (const number of [4, 5]) bucket().objects.set(smaller(number), Buffer.from('x'))
    await compare()
    for (const number of [4, 5])
      expect((await storage.index.find(refOf(number), smaller(number))).derivative?.state).to.equal('stored')
    expect([await stateOf(4), await stateOf(5)]).to.deep.equal(['trashed', 'stored'])
    storage.restart()
    expect(read(await compare())).to.deep.equal([])
  })

  it('forgets all files of an emptied bucket', async () => {
    // More than are read from the index at a time.
    const numbers = Array.from({ length: 300 }, (_, i) => i)
    await Promise.all(numbers.map((number) => storage.store(textKey(number))))
    bucket().objects.clear()
    await compare()
    expect((await storage.index.totals('first')).stored.files).to.equal(0)
  })

  it('adds files and derivatives, and reads only these', async () => {
    await storeAll()
    await storage.store(textKey(5), { indexed: false, derivatives: [smaller(5)] })
    const other = derivativeKey(textKey(2), 'w=2')
    bucket().objects.set(other, Buffer.from('x'))
    const calls = await compare()
    expect(calls.filter((call) => call.includes(textKey(2)))).to.deep.equal([`find ${other}`])
    expect(read(calls)).to.deep.equal([2, 5])
    expect(await stateOf(5)).to.equal('stored')
    for (const [number, key] of [
      [2, other],
      [5, smaller(5)],
    ] as const)
      expect((await storage.index.find(refOf(number), key)).derivative?.state, key).to.equal('stored')
    storage.restart()
    expect(read(await compare())).to.deep.equal([])
  })

  it('adds each file again to lists and search that another version needs, without a read of the bucket', async () => {
    await storeAll()
    let isWhole = false
    const added: string[] = []
    storage.wrapIndex((index) => ({
      isWhole: async () => isWhole,
      enlist: (clientId, record) => {
        added.push(record.key)
        return index.enlist(clientId, record)
      },
      markComplete: async () => {
        isWhole = true
      },
    }))
    expect(read(await compare())).to.deep.equal([])
    expect(added.toSorted()).to.deep.equal([1, 2, 3, 4].map((number) => textKey(number)))
    expect(isWhole).to.equal(true)
  })

  it('forgets an entry that is in no list', async () => {
    await storeAll()
    // As an older version has stored it.
    const unlisted = await storage.index.look(refOf(1))
    if (unlisted?.original.state !== 'stored') throw new Error('expected a stored original')
    const { record } = unlisted.original
    for (const key of [textKey(1), recordKey(textKey(1)), smaller(1)]) bucket().objects.delete(key)
    let [isWhole, isListed] = [false, false]
    storage.wrapIndex((index) => ({
      isWhole: async () => isWhole,
      async *list() {
        yield { ...unlisted, original: { state: 'stored', record } }
      },
      enlist: (clientId, listed) => {
        isListed ||= listed.key === record.key
        return index.enlist(clientId, listed)
      },
      async filesBetween(...args) {
        const { files, next } = await index.filesBetween(...args)
        return { files: files.filter(({ ref }) => isListed || ref.key !== record.key), next }
      },
      markComplete: async () => {
        isWhole = true
      },
    }))
    await compare()
    expect(await stateOf(1)).to.equal(undefined)
  })

  it('counts the files of folders again', async () => {
    await storeAll()
    let recounted: string[] = []
    storage.wrapIndex((index) => ({
      recount: (clientId, options) => {
        recounted = [...recounted, clientId]
        return index.recount(clientId, options)
      },
    }))
    await compare()
    expect(recounted).to.deep.equal(['first'])
  })

  it('undoes no delete and no upload that comes between its lists and its reads', async () => {
    await storeAll()
    await storage.store(textKey(5), { indexed: false })
    const { index } = storage
    const { objects } = bucket()
    storage.wrapIndex(({ filesBetween }) => ({
      async filesBetween(...args) {
        const removal = { cause: 'delete', leaseUntil: 2, now: 1 } as const
        if (await index.beginRemoval(refOf(1), removal)) {
          for (const key of [textKey(1), recordKey(textKey(1)), smaller(1)]) objects.delete(key)
          await index.finishRemoval(refOf(1), 1)
          // This file was listed, and is deleted before the index has it.
          for (const key of [textKey(5), recordKey(textKey(5))]) objects.delete(key)
          await storage.store(textKey(6), { derivatives: [smaller(6)] })
          await index.beginUpload(refOf(7), 9e15)
        }
        return filesBetween(...args)
      },
    }))
    await compare()
    expect(await Promise.all([1, 5, 6, 7].map(stateOf))).to.deep.equal([
      undefined,
      undefined,
      'stored',
      'pending',
    ])
    expect((await storage.index.find(refOf(6), smaller(6))).derivative?.state).to.equal('stored')
  })

  it('reports a broken record once, and continues after it', async () => {
    await storeAll()
    bucket().objects.set(recordKey(textKey(2)), Buffer.from('{'))
    await storage.store(textKey(5), { indexed: false })
    const { completion, log } = storage.start()
    await completion.complete(signal)
    const warnings = log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields)
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.deep.include({ kind: 'failed', clientId: 'first', key: recordKey(textKey(2)) })
    expect(await stateOf(5)).to.equal('stored')
  })

  it('reads only the files of partitions that were not compared since the restart of their node', async () => {
    // No tags, so each file that is not left out is read.
    for (const number of [1, 2, 3]) await storage.store(textKey(number), { derivatives: [smaller(number)] })
    // The node has lost the lists of its partition, too.
    let isWhole = false
    storage.wrapIndex(({ run }) => ({
      isWhole: async (ref) => isWhole || (ref !== undefined && ref.key !== textKey(2)),
      markComplete: async () => {
        isWhole = true
      },
      run: async (ref) => ({ ...(await run()), ...(ref && { isCompared: ref.key !== textKey(2) }) }),
    }))
    expect(read(await compare())).to.deep.equal([2])
  })
})
