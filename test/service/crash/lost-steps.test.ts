import { expect } from 'chai'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { deleteFile, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { inRedis, redisEnv } from '../../support/servers/on-redis.ts'
import { type RedisServer, startRedis } from '../../support/servers/redis-server.ts'
import { type Service, startService } from '../../support/service.ts'
import { listAll } from '../../support/stored/files.ts'

let png: Buffer
before(async () => {
  png = await picture()
})

const upload = (service: Service) => uploadOne(service, { name: 'a.png', bytes: png })
const keyOf = ({ s3PathOriginal }: WireRecord) => storedKey(s3PathOriginal)
const refOf = (record: WireRecord) => ({ clientId: 'first', key: keyOf(record) })

async function statusOf({ src }: WireRecord): Promise<number> {
  const response = await fetch(src)
  await response.arrayBuffer()
  return response.status
}

async function trashed(service: Service): Promise<WireRecord> {
  await service.app.clients.setRules('first', { keepDeletedSeconds: 3600 })
  const record = await upload(service)
  expect((await deleteFile(service, record.s3PathOriginal)).status).to.equal(200)
  return record
}

describe('an index that has lost its last steps', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  const stateOf = async (record: WireRecord) =>
    (await service.storage.index.find(refOf(record))).original?.state

  it('has a purged file as stored: reindex removes the entry, and lists and usage agree', async () => {
    const { index, buckets } = service.storage
    const record = await upload(service)
    const { original } = await index.find(refOf(record))
    expect((await deleteFile(service, record.s3PathOriginal)).status).to.equal(200)
    if (original?.state !== 'stored') throw new Error('expected a stored original')
    const before = await index.totals('first')
    await index.adopt('first', original.record)
    expect((await command(service, 'check')).findings).to.deep.equal([
      `original missing: first ${keyOf(record)}`,
    ])
    const { answer } = await command(service, 'reindex')
    expect(answer.originals).to.deep.include({ removed: 1 })
    expect(await stateOf(record)).to.equal(undefined)
    expect(await index.totals('first')).to.deep.equal(before)
    expect(await buckets.of({ id: 'first', token: '' }).find(keyOf(record))).to.equal(undefined)
  })

  it('has an upload in progress again, and no derivative: a delete leaves no derivative', async () => {
    const { index } = service.storage
    await eventually(async () => expect((await index.run()).isCompared).to.equal(true))
    const record = await upload(service)
    expect((await fetch(`${record.src}?w=20`)).status).to.equal(200)
    await eventually(async () => expect((await index.look(refOf(record)))?.derivatives).to.have.length(1))
    await index.beginRemoval(refOf(record), { cause: 'purge', leaseUntil: 0, now: 0 })
    await index.finishRemoval(refOf(record), Number.MAX_SAFE_INTEGER)
    await index.beginUpload(refOf(record), Date.now() + 60_000)
    expect(await statusOf(record)).to.equal(200)
    expect((await deleteFile(service, record.s3PathOriginal)).status).to.equal(200)
    const left = (await service.objects()).filter((key) => key.includes(record.s3PathOriginal))
    expect(left).to.deep.equal([])
  })

  it('has a deleted file as stored: check reports it, reindex puts it back into the trash', async () => {
    const record = await trashed(service)
    await service.storage.index.restore(refOf(record), 0)
    expect(await statusOf(record)).to.equal(200)
    const wrong = [`record differs: first ${keyOf(record)}`]
    expect((await command(service, 'check')).findings).to.deep.equal(wrong)
    await command(service, 'reindex')
    expect(await statusOf(record)).to.equal(404)
    expect(await stateOf(record)).to.equal('trashed')
    expect((await command(service, 'check')).findings).to.deep.equal([])
  })

  it('has a restored file as deleted: check reports it, reindex restores it', async () => {
    const record = await upload(service)
    await service.storage.index.trash(refOf(record), { at: 1, until: 9e12 })
    expect((await command(service, 'check')).findings).to.have.length(1)
    await command(service, 'reindex')
    expect(await statusOf(record)).to.equal(200)
    expect((await command(service, 'check')).findings).to.deep.equal([])
  })

  it('has a restored file as deleted: it is not purged when the time of the trash is over', async () => {
    const record = await upload(service)
    await service.storage.index.trash(refOf(record), { at: 1, until: 2 })
    await service.app.sweep()
    expect(await statusOf(record)).to.equal(200)
  })

  it('retains the entry of an original whose record still exists, although its bytes are lost', async () => {
    const record = await upload(service)
    await service.storage.buckets.of({ id: 'first', token: '' }).delete([keyOf(record)])
    await command(service, 'reindex')
    expect(await stateOf(record)).to.equal('stored')
    await deleteFile(service, record.s3PathOriginal)
  })
})

describe('a Redis that comes back with an older snapshot', () => {
  let redis: RedisServer
  let service: Service
  before(async () => {
    redis = await startRedis({ fails: true })
    service = await startService({ env: { ...(await redisEnv(0)), REDIS_URL: redis.url } })
  })
  after(() => service.stop())

  it('is noticed within seconds, and the index agrees with the bucket again', async () => {
    const [purged, hidden] = [await upload(service), await upload(service)]
    await eventually(async () => expect((await service.storage.index.run()).isCompared).to.equal(true))
    await inRedis(redis.url, (client) => client.save())
    const added = await upload(service)
    expect((await deleteFile(service, purged.s3PathOriginal)).status).to.equal(200)
    await service.app.clients.setRules('first', { keepDeletedSeconds: 3600 })
    expect((await deleteFile(service, hidden.s3PathOriginal)).status).to.equal(200)
    await redis.stop()
    await redis.start()
    await eventually(async () => {
      expect((await service.storage.index.run()).isCompared).to.equal(true)
      const listed = (await listAll(service)).map(({ s3PathOriginal }) => s3PathOriginal)
      expect(listed).to.deep.equal([added.s3PathOriginal])
    })
    expect(await statusOf(hidden)).to.equal(404)
    expect(await statusOf(purged)).to.equal(404)
    expect((await command(service, 'check')).findings).to.deep.equal([])
  })
})
