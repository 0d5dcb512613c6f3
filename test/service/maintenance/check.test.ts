import { Readable } from 'node:stream'
import { expect } from 'chai'
import type { Storage } from '../../../src/app.ts'
import type { Client } from '../../../src/core/clients/client.ts'
import type { Finding } from '../../../src/core/files/finding.ts'
import { derivativeKey, type ObjectKey, recordKey, storedKey } from '../../../src/core/files/object-key.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import { reindexedListOf } from '../../contracts/file-index/file-index-model.ts'
import { onTwoBackends } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import { newClient, uploadOne } from '../../support/requests/client.ts'
import type { Service } from '../../support/service.ts'
import { usuallyOnce } from '../../support/sized.ts'
import { settled } from '../../support/stored/settled.ts'

const FUTURE = Date.now() + 3_600_000

onTwoBackends('check and reindex', (start, _, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  let service: Service
  let storage: Storage
  let client: Pick<Client, 'id' | 'token'>
  let bucket: Bucket
  let png: Buffer

  before(async () => {
    png = await picture()
  })
  beforeEach(async () => {
    service = await start()
    storage = service.storage
    client = { id: 'first', token: service.tokens.clientToken }
    bucket = storage.buckets.of(client)
  })
  afterEach(() => service.stop())

  const ref = (key: ObjectKey, clientId = 'first') => ({ clientId, key })

  /** An original with one derivative. */
  async function stored(): Promise<{ key: ObjectKey; small: ObjectKey }> {
    const { s3PathOriginal, src } = await uploadOne(service, { name: 'Ä "photo".png', bytes: png })
    const response = await fetch(`${service.url}${new URL(src).pathname}?w=10&f=webp`)
    expect(response.status).to.equal(200)
    await response.arrayBuffer()
    await settled(service)
    const key = storedKey(s3PathOriginal)
    return { key, small: derivativeKey(key, 'f=webp&w=10') }
  }

  async function put(key: ObjectKey, text: string): Promise<void> {
    await bucket.put(key, Readable.from([Buffer.from(text)]), { mediaType: 'image/png' })
  }

  /** As if the index had lost an original. */
  async function forget(key: ObjectKey): Promise<void> {
    await storage.index.beginRemoval(ref(key), { cause: 'delete', leaseUntil: 0, now: 0 })
    await storage.index.finishRemoval(ref(key), Number.MAX_SAFE_INTEGER)
  }

  it('find and change nothing when bucket and index agree', async () => {
    const { key } = await stored()
    await stored()
    const before = await reindexedListOf(storage.index)
    expect(Object.keys(before)).to.include(`first ${key}`)
    expect(await command(service, 'check')).to.deep.equal({
      answer: { originals: 2, derivatives: 2, others: 0, inProgress: 0, findings: {} },
      findings: [],
    })
    expect(await command(service, 'reindex')).to.deep.equal({
      answer: {
        clients: 1,
        originals: { known: 2, added: 0, left: 0, removed: 0 },
        derivatives: { known: 2, added: 0, left: 0 },
      },
      findings: [],
    })
    expect(await reindexedListOf(storage.index)).to.deep.equal(before)
  })

  itUsuallyOnce('report files missing in the index, and index them unchanged', async () => {
    const { key, small } = await stored()
    const other = await stored()
    const before = await reindexedListOf(storage.index)
    await forget(key)
    const lost = [`derivative not indexed: first ${small}`, `original not indexed: first ${key}`]
    expect((await command(service, 'check')).findings).to.deep.equal(lost)
    const { answer, findings } = await command(service, 'reindex')
    expect(answer).to.deep.equal({
      clients: 1,
      originals: { known: 1, added: 1, left: 0, removed: 0 },
      derivatives: { known: 1, added: 1, left: 0 },
    })
    expect(findings).to.deep.equal([])
    expect(await reindexedListOf(storage.index)).to.deep.equal(before)
    expect((await command(service, 'check')).findings).to.deep.equal([])
    expect(other.key).to.not.equal(key)
  })

  itUsuallyOnce('report a derivative missing in the index, and index it', async () => {
    const { key, small } = await stored()
    const before = await reindexedListOf(storage.index)
    await storage.index.beginDerivative(ref(key), small, 1)
    await storage.index.dropDerivative(ref(key), small, 1)
    expect((await command(service, 'check')).findings).to.deep.equal([
      `derivative not indexed: first ${small}`,
    ])
    await command(service, 'reindex')
    expect(await reindexedListOf(storage.index)).to.deep.equal(before)
  })

  it('report files missing in the bucket', async () => {
    const [one, two, three] = [await stored(), await stored(), await stored()]
    await bucket.delete([one.key, two.small, recordKey(three.key)])
    expect((await command(service, 'check')).findings).to.deep.equal(
      [
        `original missing: first ${one.key}`,
        `derivative missing: first ${two.small}`,
        `record missing: first ${three.key}`,
      ].sort(),
    )
  })

  itUsuallyOnce('report sizes and records that differ, and the members that differ', async () => {
    const [one, two, three] = [await stored(), await stored(), await stored()]
    await put(one.key, 'short')
    await put(one.small, 'short')
    const record = { ...(await storage.index.find(ref(two.key))).original } as { record?: object }
    await put(recordKey(two.key), JSON.stringify({ ...record.record, sha256: 'other', originalName: 'b' }))
    await put(recordKey(three.key), 'no JSON')
    const report = async (item: unknown) => {
      const { finding } = item as { finding?: Finding }
      if (finding) details.push(`${finding.kind} ${finding.key}: ${finding.detail}`)
    }
    const details: string[] = []
    await service.app.commands.check?.({}, { signal: new AbortController().signal, report })
    expect(details.sort()).to.deep.equal(
      [
        `size differs ${one.key}: 5 bytes, ${png.length} in the index`,
        details.find((text) => text.includes(one.small)) ?? '',
        `record differs ${two.key}: originalName, sha256`,
        `record differs ${three.key}: invalid JSON`,
      ].sort(),
    )
    expect(details.some((text) => text.startsWith(`size differs ${one.small}: 5 bytes, `))).to.equal(true)
  })

  itUsuallyOnce('do not report the tags of a file in the trash, which a restore copies', async () => {
    const { key } = await stored()
    const { original } = await storage.index.find(ref(key))
    if (original?.state !== 'stored') throw new Error('it is not stored')
    const trash = { at: 1, until: FUTURE }
    await storage.index.trash(ref(key), trash)
    await put(recordKey(key), JSON.stringify({ ...original.record, tags: ['a'], trash }))
    expect((await command(service, 'check')).findings).to.deep.equal([])
  })

  it('report leftovers of other files, and do not index them', async () => {
    const [one, two] = [await stored(), await stored()]
    const three = (await uploadOne(service, { name: 'c.png', bytes: png })).s3PathOriginal
    await bucket.delete([one.key, recordKey(two.key), storedKey(three)])
    for (const key of [one.key, two.key, storedKey(three)]) await forget(key)
    const left = {
      derivative: [
        `derivative without original: first ${one.small}`,
        `derivative without original: first ${two.small}`,
      ],
      record: [recordKey(one.key), recordKey(storedKey(three))].map(
        (key) => `record without original: first ${key}`,
      ),
    }
    expect((await command(service, 'check')).findings).to.deep.equal(
      [...left.derivative, ...left.record, `original without record: first ${two.key}`].sort(),
    )
    const { answer, findings } = await command(service, 'reindex')
    expect(findings).to.deep.equal([...left.derivative, ...left.record].sort())
    expect(answer).to.deep.include({
      originals: { known: 0, added: 0, left: 2, removed: 0 },
      derivatives: { known: 0, added: 0, left: 2 },
    })
    expect(await reindexedListOf(storage.index, 'first')).to.deep.equal({})
  })

  itUsuallyOnce('ignore objects of other programs, and count them', async () => {
    await stored()
    for (const key of ['photo.png', 'image/png/photo.png', '.sluice/other', '.sluice/meta/photo.json'])
      await put(storedKey(key), 'of somebody else')
    const { answer, findings } = await command(service, 'check')
    expect(findings).to.deep.equal([])
    expect(answer).to.include({ originals: 1, derivatives: 1, others: 4 })
    expect((await command(service, 'reindex')).findings).to.deep.equal([])
  })

  itUsuallyOnce('do not report work in progress, and do not change it', async () => {
    const { key, small } = await stored()
    const going = await stored()
    const uploading = storedKey(key.replace(/[^/]{22}\.png$/, '1111111111111111111111.png'))
    await storage.index.beginUpload(ref(uploading), FUTURE)
    await put(uploading, 'half')
    await put(recordKey(uploading), '{}')
    const making = derivativeKey(key, 'w=20')
    await storage.index.beginDerivative(ref(key), making, FUTURE)
    await put(making, 'whole')
    await storage.index.beginRemoval(ref(going.key), { cause: 'delete', leaseUntil: FUTURE, now: Date.now() })
    // What a delete finds in the bucket only.
    await put(derivativeKey(going.key, 'w=99'), 'whole')
    const before = await reindexedListOf(storage.index)
    const { answer, findings } = await command(service, 'check')
    expect(findings).to.deep.equal([])
    expect(answer).to.include({ inProgress: 3 })
    expect((await command(service, 'reindex')).findings).to.deep.equal([])
    expect(await reindexedListOf(storage.index)).to.deep.equal(before)
    expect(small).to.not.equal(making)
  })

  itUsuallyOnce('scan all clients, or only the given one', async () => {
    const other = await newClient(service)
    const { s3PathOriginal } = await uploadOne(other, { name: 'a.png', bytes: png })
    const { key } = await stored()
    await storage.buckets.of({ id: other.id, token: '' }).delete([storedKey(s3PathOriginal)])
    await bucket.delete([key])
    const missing = [`original missing: first ${key}`, `original missing: ${other.id} ${s3PathOriginal}`]
    expect((await command(service, 'check')).findings).to.deep.equal(missing.sort())
    expect((await command(service, 'check', { clientId: other.id })).findings).to.deep.equal([
      `original missing: ${other.id} ${s3PathOriginal}`,
    ])
    for (const name of ['check', 'reindex'])
      expect(await rejection(command(service, name, { clientId: 'nobody' }))).to.have.property('status', 404)
  })

  itUsuallyOnce('report entries of clients that do not exist', async () => {
    const { key } = await stored()
    const found = (await storage.index.find(ref(key))).original
    if (found?.state !== 'stored') throw new Error('it is not stored')
    await storage.index.adopt('nobody', found.record)
    expect((await command(service, 'check')).findings).to.deep.equal([`client unknown: nobody ${key}`])
    // The databases of this run are used one after the other.
    await storage.index.beginRemoval(ref(key, 'nobody'), { cause: 'delete', leaseUntil: 0, now: 0 })
    await storage.index.finishRemoval(ref(key, 'nobody'), 0)
  })

  itUsuallyOnce('continue after an invalid record, and report it', async () => {
    const [broken, whole] = [await stored(), await stored()]
    for (const { key } of [broken, whole]) await forget(key)
    await put(recordKey(broken.key), '{"size": -1}')
    const { findings } = await command(service, 'reindex')
    expect(findings).to.include(`failed: first ${recordKey(broken.key)}`)
    expect((await storage.index.find(ref(whole.key))).original?.state).to.equal('stored')
    expect((await storage.index.find(ref(broken.key))).original).to.equal(undefined)
  })
})
