import { expect } from 'chai'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { picture } from '../../support/media/images.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'
import { settled } from '../../support/stored/settled.ts'

describe('DELETE of the derivatives of a file', () => {
  let service: Service
  let record: WireRecord
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())
  beforeEach(async () => {
    record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    for (const w of [10, 20]) await exchange(service, `${record.src}?w=${w}`)
    await settled(service)
  })

  const remove = (path: string, Authorization = service.tokens.secretClientToken) =>
    exchange(service, `/v1/files/${path}/derivatives`, { method: 'DELETE', headers: { Authorization } })
  const derivedBytes = async () =>
    (await service.storage.index.derivedBytes({ clientId: 'first', key: storedKey(record.s3PathOriginal) }))
      .original

  it('counts them and their bytes, keeps the original, and they are rendered again', async () => {
    const bytes = await derivedBytes()
    const answer = await remove(record.s3PathOriginal)
    const expected = { s3PathOriginal: record.s3PathOriginal, derivatives: 2, bytes }
    expect(jsonOf(answer)).to.deep.equal(expected)
    const objects = (await service.objects()).filter((key) => key.includes(`${record.s3PathOriginal}_`))
    expect(objects).to.deep.equal([])
    expect(await derivedBytes()).to.equal(0)
    expect((await exchange(service, record.src)).status).to.equal(200)
    expect((await exchange(service, `${record.src}?w=10`)).status).to.equal(200)
    await settled(service)
    expect(jsonOf(await remove(record.s3PathOriginal))).to.include({ derivatives: 1 })
    expect(jsonOf(await remove(record.s3PathOriginal))).to.include({ derivatives: 0, bytes: 0 })
  })

  it('deletes derivatives that the index has lost', async () => {
    const { index, buckets } = service.storage
    const key = storedKey(`${record.s3PathOriginal}_w=10`)
    await index.beginDerivative({ clientId: 'first', key: storedKey(record.s3PathOriginal) }, key, 1)
    await index.dropDerivative({ clientId: 'first', key: storedKey(record.s3PathOriginal) }, key, 1)
    expect(jsonOf(await remove(record.s3PathOriginal))).to.include({ derivatives: 2 })
    expect(await buckets.of({ id: 'first', token: '' }).find(key)).to.equal(undefined)
  })

  it('requires the secret and an existing file', async () => {
    expect((await remove(record.s3PathOriginal, 'wrong')).status).to.equal(401)
    expect((await remove(`${record.s3PathOriginal}_w=10`)).status).to.equal(404)
    expect((await remove('image/png/7uLqZ3r9Vb2kXyN4sW8tQp.png')).status).to.equal(404)
    const wrong = await exchange(service, `/v1/files/${record.s3PathOriginal}/derivatives`)
    expect(wrong.headers.allow).to.equal('DELETE')
    expect(await derivedBytes()).to.be.above(0)
  })

  it('is a command for one file, and for a folder', async () => {
    const form = { name: 'b.png', bytes: await picture() }
    const other = await uploadOne(service, form)
    await exchange(service, `${other.src}?w=10`)
    await settled(service)
    const run = service.app.commands['derivatives delete']
    const options = { signal: new AbortController().signal, report: async () => {} }
    const one = await run?.({ clientId: 'first', path: record.s3PathOriginal }, options)
    expect(one).to.include({ originals: 1, derivatives: 2 })
    const folder = `${other.s3PathOriginal.split('/')[0]}/`
    expect(await run?.({ clientId: 'first', path: folder }, options))
      .to.have.property('originals')
      .above(1)
    const ref = { clientId: 'first', key: storedKey(other.s3PathOriginal) }
    expect(await service.storage.index.derivedBytes(ref)).to.deep.equal({ client: 0, original: 0 })
  })

  it('is a command for all files, and for what was stored before a time', async () => {
    const other = await uploadOne(service, { name: 'c.png', bytes: await picture() }, { path: 'deep/down' })
    await exchange(service, `${other.src}?w=11`)
    await exchange(service, `${record.src}?w=11`)
    await settled(service)
    const run = service.app.commands['derivatives delete']
    const options = { signal: new AbortController().signal, report: async () => {} }
    const of = (before: number) => run?.({ clientId: 'first', path: '/', before }, options)
    expect(await of(Date.now() - 3_600_000)).to.deep.include({ derivatives: 0 })
    expect(await of(Date.now() + 3_600_000))
      .to.have.property('derivatives')
      .above(1)
    expect(await derivedBytes()).to.equal(0)
  })
})
