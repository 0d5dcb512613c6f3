import { expect } from 'chai'
import type { Storage } from '../../../src/app.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import type { FileIndex } from '../../../src/core/ports/file-index.ts'
import { onTwoOrEveryBackend } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { picture } from '../../support/media/images.ts'
import { deleteFile, postFiles, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import type { Service } from '../../support/service.ts'
import { usuallyOnce } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { withClock } from '../../support/stored/clock.ts'

const LATER_MS = 600_000

onTwoOrEveryBackend('an upload whose last step the index has lost', (start, _, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  let service: Service
  let png: Buffer
  const clock = { aheadMs: 0 }
  /** In the place of the step, for one test. */
  let finishUpload: (index: FileIndex) => FileIndex['finishUpload'] = (index) => index.finishUpload
  let change: (bucket: Bucket) => Partial<Bucket> = () => ({})

  before(async () => {
    png = await picture()
    service = await start({
      wrapStorage: (storage: Storage) => {
        const { index, buckets } = wrapBuckets((bucket) => change(bucket))(withClock(clock)(storage))
        return {
          buckets,
          index: { ...index, finishUpload: (...args) => finishUpload(index)(...args) },
        }
      },
    })
  })
  afterEach(async () => {
    clock.aheadMs = 0
    finishUpload = (index) => index.finishUpload
    change = () => ({})
  })

  const stateOf = async (key: string) =>
    (await service.storage.index.find({ clientId: 'first', key: storedKey(key) })).original?.state

  const get = async ({ src }: WireRecord, query = '') => {
    const response = await fetch(src + query)
    await response.arrayBuffer()
    return response.status
  }

  /** An upload whose client got a success response, and that the index still has as `pending`. */
  async function acknowledged(): Promise<WireRecord> {
    finishUpload = () => async () => true
    const record = await uploadOne(service, { name: 'a.png', bytes: png })
    finishUpload = (index) => index.finishUpload
    expect(await stateOf(record.s3PathOriginal)).to.equal('pending')
    return record
  }

  async function sweepLater(): Promise<void> {
    clock.aheadMs = LATER_MS
    await service.app.sweep()
  }

  it('is stored again after a sweep, which deletes no part of it', async () => {
    const record = await acknowledged()
    await sweepLater()
    expect(await stateOf(record.s3PathOriginal)).to.equal('stored')
    expect(await get(record)).to.equal(200)
    expect((await command(service, 'check')).findings).to.deep.equal([])
    expect((await deleteFile(service, record.s3PathOriginal)).status).to.equal(200)
  })

  itUsuallyOnce('is delivered and transformed at once', async () => {
    for (const query of ['', '?w=10']) {
      const record = await acknowledged()
      expect(await get(record, query)).to.equal(200)
      expect(await stateOf(record.s3PathOriginal)).to.equal('stored')
      expect((await deleteFile(service, record.s3PathOriginal)).status).to.equal(200)
    }
  })

  itUsuallyOnce('can be deleted', async () => {
    const { s3PathOriginal } = await acknowledged()
    expect((await deleteFile(service, s3PathOriginal)).status).to.equal(200)
    expect(await service.objects()).to.deep.equal([])
    expect(await stateOf(s3PathOriginal)).to.equal(undefined)
  })

  it('that was interrupted between its records is stored as far as they exist', async () => {
    let records = 0
    change = (bucket) => ({
      async put(key, bytes, options) {
        if (key.startsWith('.sluice/meta/')) {
          records += 1
          // As when the process had died here: nothing of what follows is carried out.
          if (records === 2) {
            change = () => ({ put: () => new Promise(() => {}) })
            await sweepLater()
            throw new Error('broken off')
          }
        }
        return bucket.put(key, bytes, options)
      },
    })
    const files = ['a.png', 'b.png'].map((name) => ({ name, bytes: png }))
    expect((await postFiles(service, files)).status).to.equal(500)
    const objects = (await service.objects()).filter((each) => !each.includes('.sluice'))
    expect(objects).to.have.length(1)
    const key = objects[0]?.replace('first/', '') ?? ''
    expect(await stateOf(key)).to.equal('stored')
    expect((await command(service, 'check')).findings).to.deep.equal([])
    expect((await deleteFile(service, key)).status).to.equal(200)
  })

  itUsuallyOnce('that was finished by a sweep gets a 200: it was only slow', async () => {
    finishUpload = (index) => {
      finishUpload = () => index.finishUpload
      return async (clientId, records) => {
        await sweepLater()
        return index.finishUpload(clientId, records)
      }
    }
    const files = ['a.png', 'b.png'].map((name) => ({ name, bytes: png }))
    const response = await postFiles(service, files)
    expect(response.status).to.equal(200)
    for (const record of (await response.json()) as WireRecord[]) {
      expect(await get(record)).to.equal(200)
      expect((await deleteFile(service, record.s3PathOriginal)).status).to.equal(200)
    }
  })

  itUsuallyOnce('without a record yet is deleted, and its slow client gets an error', async () => {
    change = (bucket) => ({
      async put(key, bytes, options) {
        if (key.startsWith('.sluice/meta/')) await sweepLater()
        return bucket.put(key, bytes, options)
      },
    })
    expect((await postFiles(service, [{ name: 'a.png', bytes: png }])).status).to.equal(503)
    expect(await service.objects()).to.deep.equal([])
  })
})
