import { Readable } from 'node:stream'
import { expect } from 'chai'
import { storedKey } from '../../src/core/files/object-key.ts'
import { eventually } from '../support/eventually.ts'
import { picture } from '../support/media/images.ts'
import { deleteFile, postFiles, uploadOne } from '../support/requests/client.ts'
import { type Service, startService } from '../support/service.ts'
import { wrapBuckets } from '../support/storage.ts'
import { settled } from '../support/stored/settled.ts'

describe('a delete on disk', () => {
  let service: Service
  let png: Buffer
  let isCompared: boolean | undefined
  const listed: string[] = []
  before(async () => {
    png = await picture()
    service = await startService({
      wrapStorage: (storage) => {
        const { buckets, index } = wrapBuckets((bucket) => ({
          list(prefix) {
            listed.push(prefix)
            return bucket.list(prefix)
          },
        }))(storage)
        const run = async () => ({
          ...(await index.run()),
          ...(isCompared === undefined ? {} : { isCompared }),
        })
        return { buckets, index: { ...index, run } }
      },
    })
    await eventually(async () => expect((await service.storage.index.run()).isCompared).to.equal(true))
  })
  after(() => service.stop())
  beforeEach(() => {
    isCompared = undefined
  })

  const bucket = () => service.storage.buckets.of({ id: 'first', token: '' })
  async function derived() {
    const record = await uploadOne(service, { name: 'a.png', bytes: png })
    await (await fetch(`${record.src}?w=10`)).arrayBuffer()
    await settled(service)
    listed.length = 0
    return record.s3PathOriginal
  }

  it('removes the derivatives in the index, and lists no folder', async () => {
    const key = await derived()
    expect((await deleteFile(service, key)).status).to.equal(200)
    expect(listed.filter((prefix) => key.startsWith(prefix.split('_')[0] ?? ''))).to.deep.equal([])
    expect(await service.objects()).to.deep.equal([])
  })

  it('also removes derivatives that are not in the index when it may have lost steps', async () => {
    const key = await derived()
    await bucket().put(storedKey(`${key}_w=7`), Readable.from([png]), { mediaType: 'image/png' })
    isCompared = false
    expect((await deleteFile(service, key)).status).to.equal(200)
    expect(listed).to.include(`${key}_`)
    expect(await service.objects()).to.deep.equal([])
  })

  it('of a refused upload lists no folder', async () => {
    isCompared = false
    listed.length = 0
    const files = ['a.png', ''].map((name, i) => ({ name, bytes: i === 0 ? png : Buffer.alloc(0) }))
    expect((await postFiles(service, files)).status).to.equal(400)
    expect(listed.filter((prefix) => prefix.startsWith('image/'))).to.deep.equal([])
    expect(await service.objects()).to.deep.equal([])
  })
})
