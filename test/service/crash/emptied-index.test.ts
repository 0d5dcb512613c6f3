import { expect } from 'chai'
import type { FileRef } from '../../../src/core/files/file-ref.ts'
import { type ObjectKey, storedKey } from '../../../src/core/files/object-key.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import { listOf } from '../../contracts/file-index/file-index-model.ts'
import { onTwoOrEveryBackend } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { deleteFile, postFiles, uploadOne } from '../../support/requests/client.ts'
import type { Service } from '../../support/service.ts'
import { usuallyOnce } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'

onTwoOrEveryBackend('an index that is emptied in the middle', (start, _, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  let service: Service
  let png: Buffer
  /** In the place of the bucket, for one step. */
  let change: (bucket: Bucket) => Partial<Bucket> = () => ({})

  before(async () => {
    png = await picture()
    service = await start({ wrapStorage: wrapBuckets((bucket) => change(bucket)) })
    // The comparison of a new index with the bucket would index an object whose upload is still to fail.
    await eventually(async () => {
      const { id, isCompared } = await service.storage.index.run()
      expect(id === undefined || isCompared).to.equal(true)
    })
  })
  afterEach(() => {
    change = () => ({})
  })

  /** As FLUSHALL does it, for one original in whatever state. */
  async function forget(key: ObjectKey): Promise<void> {
    const ref = { clientId: 'first', key }
    for (const cause of ['delete', 'abandon'] as const)
      await service.storage.index.beginRemoval(ref, { cause, leaseUntil: 0, now: 0 })
    await service.storage.index.finishRemoval(ref, Number.MAX_SAFE_INTEGER)
    expect(await service.storage.index.find(ref)).to.deep.equal({})
  }

  async function expectNothing(): Promise<void> {
    expect(await service.objects()).to.deep.equal([])
    expect(await listOf(service.storage.index)).to.deep.equal({})
    expect((await command(service, 'check')).findings).to.deep.equal([])
  }

  itUsuallyOnce('of an upload: it fails, and leaves no object that could be indexed', async () => {
    change = (bucket) => ({
      async put(key, bytes, options) {
        await bucket.put(key, bytes, options)
        if (!key.startsWith('.sluice/')) await forget(key)
      },
    })
    const response = await postFiles(service, [{ name: 'a.png', bytes: png }])
    expect(response.status).to.equal(503)
    await expectNothing()
  })

  it('of a form with two files, between their records: it fails, and leaves no object of either', async () => {
    let records = 0
    change = (bucket) => ({
      async put(key, bytes, options) {
        await bucket.put(key, bytes, options)
        if (!key.startsWith('.sluice/meta/')) return
        records += 1
        if (records > 1) return
        for (const name of Object.keys(await listOf(service.storage.index)))
          await forget(storedKey(name.replace('first ', '')))
      },
    })
    const files = ['a.png', 'b.png'].map((name) => ({ name, bytes: png }))
    expect((await postFiles(service, files)).status).to.equal(503)
    expect(records).to.equal(2)
    await expectNothing()
  })

  itUsuallyOnce('of an upload that a sweep is deleting: no later object is left', async () => {
    let ref: FileRef | undefined
    change = (bucket) => ({
      async put(key, bytes, options) {
        if (key.startsWith('.sluice/meta/')) {
          const original = storedKey(key.slice('.sluice/meta/'.length, -'.json'.length))
          ref = { clientId: 'first', key: original }
          await service.storage.index.beginRemoval(ref, { cause: 'abandon', leaseUntil: 9e15, now: 0 })
          await bucket.delete([original, storedKey(key)])
        }
        return bucket.put(key, bytes, options)
      },
    })
    expect((await postFiles(service, [{ name: 'a.png', bytes: png }])).status).to.equal(503)
    expect(ref && (await service.storage.index.finishRemoval(ref, 9e15))).to.equal(true)
    await expectNothing()
  })

  it('of an upload, and filled again: it is stored, and its client gets a 200', async () => {
    change = (bucket) => ({
      async put(key, bytes, options) {
        await bucket.put(key, bytes, options)
        if (!key.startsWith('.sluice/meta/')) return
        await forget(storedKey(key.slice('.sluice/meta/'.length, -'.json'.length)))
        change = () => ({})
        await command(service, 'reindex')
      },
    })
    expect((await postFiles(service, [{ name: 'a.png', bytes: png }])).status).to.equal(200)
    expect((await command(service, 'check')).findings).to.deep.equal([])
    const [name = ''] = (await service.objects()).filter((each) => !each.includes('.sluice'))
    expect((await deleteFile(service, name.replace('first/', ''))).status).to.equal(200)
    await expectNothing()
  })

  it('of a delete, and filled again: the deleted file stays deleted', async () => {
    const { s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: png })
    const key = storedKey(s3PathOriginal)
    change = (bucket) => ({
      async delete(keys) {
        if (keys.includes(key)) {
          change = () => ({})
          await forget(key)
          await command(service, 'reindex')
        }
        return bucket.delete(keys)
      },
    })
    expect((await deleteFile(service, key)).status).to.equal(200)
    await expectNothing()
  })
})
