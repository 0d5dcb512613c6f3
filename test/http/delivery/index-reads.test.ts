import { expect } from 'chai'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { deleteFile, rawPath, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { filePath } from '../../support/stored/files.ts'
import { settled } from '../../support/stored/settled.ts'

onOneOrTwoBackends('the number of index reads per delivery', (start) => {
  let service: Service
  let record: WireRecord
  let path: string
  let reads = 0
  before(async () => {
    service = await start({
      wrapStorage: ({ buckets, index }) => ({
        buckets,
        index: {
          ...index,
          find(ref, derivative) {
            reads += 1
            return index.find(ref, derivative)
          },
        },
      }),
    })
    // The first comparison of index and bucket finds files, too.
    await eventually(async () => expect((await service.storage.index.run()).isCompared).to.equal(true))
    // Again on a busy machine, where Redis was too slow for the derivative to be stored.
    await eventually(async () => {
      record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
      path = new URL(record.src).pathname
      expect((await exchange(service, `${path}?w=30`)).status).to.equal(200)
      await settled(service)
      const { body } = await ask(service, filePath(record.s3PathOriginal))
      expect((body as { derivatives: unknown[] }).derivatives).to.have.length(1)
    })
  })

  async function readsOf(target: string): Promise<{ status: number; reads: number }> {
    reads = 0
    const { status } = await exchange(service, target)
    return { status, reads }
  }

  it('is one for a stored derivative, by its short path and by its full key', async () => {
    const full = rawPath(service, record.s3PathOriginal).replace('/bucket/', '/image/upload/')
    for (const target of [`${path}?w=30`, `${full}?w=30`])
      expect(await readsOf(target), target).to.deep.equal({ status: 200, reads: 1 })
  })

  it('is one for a derivative whose key is the path', async () => {
    const bucket = rawPath(service, `${record.s3PathOriginal}_w=30`)
    for (const target of [bucket, bucket.replace('/bucket/', '/image/upload/')])
      expect(await readsOf(target), target).to.deep.equal({ status: 200, reads: 1 })
  })

  it('is one for an original', async () => {
    for (const target of [path, rawPath(service, record.s3PathOriginal)])
      expect(await readsOf(target), target).to.deep.equal({ status: 200, reads: 1 })
  })

  it('is two for a crop, when the file has a focal point', async () => {
    const { s3PathOriginal: key, src } = await uploadOne(service, { name: 'b.png', bytes: await picture() })
    await ask(service, filePath(key), { method: 'PATCH', json: { focalPoint: { x: 0, y: 0 } } })
    const cropped = `${new URL(src).pathname}?w=30&h=60`
    expect((await exchange(service, cropped)).status).to.equal(200)
    await settled(service)
    expect(await readsOf(cropped)).to.deep.equal({ status: 200, reads: 2 })
    const refused = await readsOf(`${cropped}&w=0`)
    expect(refused).to.deep.equal({ status: 400, reads: 1 })
  })

  it("is one for a width above the image's own, once its size is known", async () => {
    const other = await uploadOne(service, { name: 'b.png', bytes: await picture() })
    const wide = (w: number) => readsOf(`${new URL(other.src).pathname}?w=${w}`)
    expect((await wide(5000)).status).to.equal(200)
    await settled(service)
    for (const w of [401, 4000]) expect(await wide(w)).to.deep.equal({ status: 200, reads: 1 })
  })

  it('is one for a query that is refused', async () => {
    expect(await readsOf(`${path}?w=0`)).to.deep.equal({ status: 400, reads: 1 })
  })

  it('is one before a query is refused: a missing file is a 404', async () => {
    const other = await uploadOne(service, { name: 'b.png', bytes: await picture() })
    await deleteFile(service, other.s3PathOriginal)
    const missing = new URL(other.src).pathname
    const named = rawPath(service, `${other.s3PathOriginal}_w=30`).replace('/bucket/', '/image/upload/')
    for (const target of [`${missing}?w=0`, `${missing}?nonsense`, `${named}?w=20`, missing]) {
      const answer = await exchange(service, target)
      expect(answer.status, target).to.equal(404)
      expect(jsonOf(answer).code, target).to.equal('file_not_found')
    }
    const derivative = rawPath(service, `${record.s3PathOriginal}_w=30`).replace('/bucket/', '/image/upload/')
    expect(jsonOf(await exchange(service, `${derivative}?w=20`)).code).to.equal('transform_of_derivative')
    expect(jsonOf(await exchange(service, `${derivative}?w=0`)).code).to.equal('bad_parameter')
    const group = path.replace('/image/', '/video/')
    expect((await exchange(service, `${group}?w=0`)).status).to.equal(404)
  })
})
