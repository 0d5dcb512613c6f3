import { expect } from 'chai'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { ask } from '../../support/requests/ask.ts'
import {
  type Caller,
  deleteFile,
  newClient,
  postFiles,
  uploadOne,
  type WireRecord,
} from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { filePath, listAll } from '../../support/stored/files.ts'

onOneOrTwoBackends('upload of a file that is already stored', (start, _, itOnce) => {
  let service: Service
  let client: Caller & { id: string }
  before(async () => {
    service = await start()
  })
  beforeEach(async () => {
    client = await newClient(service)
    await service.app.clients.setRules(client.id, { dedupe: 'reuse' })
  })

  const objects = async () => (await service.objects()).filter((name) => name.includes(client.id))
  const upload = (name: string, bytes: string, path?: string) =>
    uploadOne(client, { name, bytes }, path === undefined ? {} : { path })

  it('responds with the existing record, and stores nothing', async () => {
    const first = await upload('first.txt', 'equal')
    const before = (await ask(client, filePath(first.s3PathOriginal))).body
    expect(await upload('second.txt', 'equal')).to.deep.equal(first)
    expect((await ask(client, filePath(first.s3PathOriginal))).body).to.deep.equal(before)
    await eventually(async () => expect(await objects()).to.have.length(2))
    expect((await exchange(service, first.src)).body.toString()).to.equal('equal')
  })

  itOnce('stores a new file when bytes, folder or type differ', async () => {
    const files = [
      await upload('a.txt', 'one'),
      await upload('a.txt', 'two'),
      await upload('a.txt', 'one', 'f'),
      await upload('a.txt', 'one', 'f/g'),
      await upload('a.csv', 'one'),
    ]
    expect(new Set(files.map(({ s3PathOriginal }) => s3PathOriginal)).size).to.equal(5)
    expect((await upload('b.csv', 'one')).s3PathOriginal).to.equal(files[4]?.s3PathOriginal)
    expect((await upload('b.txt', 'one', 'f')).s3PathOriginal).to.equal(files[2]?.s3PathOriginal)
  })

  itOnce('stores a new file for another client, and without the dedupe rule', async () => {
    const first = await upload('a.txt', 'equal')
    const other = await newClient(service)
    await service.app.clients.setRules(other.id, { dedupe: 'reuse' })
    expect((await uploadOne(other, { name: 'a.txt', bytes: 'equal' })).s3PathOriginal).to.not.equal(
      first.s3PathOriginal,
    )
    await service.app.clients.setRules(client.id, { dedupe: false })
    expect((await upload('a.txt', 'equal')).s3PathOriginal).to.not.equal(first.s3PathOriginal)
    expect(await listAll(client)).to.have.length(2)
  })

  itOnce('keeps the order of a form, and stores equal files of the form once', async () => {
    const known = await upload('known.txt', 'known')
    const response = await postFiles(client, [
      { name: '1.txt', bytes: 'new' },
      { name: '2.txt', bytes: 'known' },
      { name: '3.txt', bytes: 'new' },
      { name: '4.txt', bytes: 'other' },
    ])
    const records = (await response.json()) as WireRecord[]
    expect(records.map(({ originalName }) => originalName)).to.deep.equal([
      '1.txt',
      'known.txt',
      '1.txt',
      '4.txt',
    ])
    expect(records[1]).to.deep.equal(known)
    expect(records[2]).to.deep.equal(records[0])
    for (const { src } of records) expect((await exchange(service, src)).status).to.equal(200)
    await eventually(async () => expect(await objects()).to.have.length(6))
  })

  it('stores the file again once the other one is deleted, also by a soft delete', async () => {
    const first = await upload('a.txt', 'equal')
    await deleteFile(client, first.s3PathOriginal)
    const second = await upload('a.txt', 'equal')
    expect(second.s3PathOriginal).to.not.equal(first.s3PathOriginal)
    await service.app.clients.setRules(client.id, { keepDeletedSeconds: 3600 })
    await deleteFile(client, second.s3PathOriginal)
    const third = await upload('a.txt', 'equal')
    expect(third.s3PathOriginal).to.not.equal(second.s3PathOriginal)
    expect((await exchange(service, third.src)).status).to.equal(200)
  })

  it('returns no file that the bucket has lost', async () => {
    const first = await upload('a.txt', 'equal')
    const bucket = service.storage.buckets.of({ id: client.id, token: '' })
    await bucket.delete([first.s3PathOriginal as never])
    const second = await upload('a.txt', 'equal')
    expect((await exchange(service, second.src)).status).to.equal(200)
  })

  it('never returns a broken file during concurrent uploads and deletes', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const record = await upload('a.txt', 'equal')
        if (i % 4 === 3) await deleteFile(client, record.s3PathOriginal)
        return record
      }),
    )
    const left = (await listAll(client)).map(({ s3PathOriginal }) => s3PathOriginal)
    for (const { src, s3PathOriginal } of answers)
      expect((await exchange(service, src)).status).to.equal(left.includes(s3PathOriginal) ? 200 : 404)
    await eventually(async () => expect(await objects()).to.have.length(left.length * 2))
  })
})
