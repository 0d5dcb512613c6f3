import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { recordKey, storedKey } from '../../../src/core/files/object-key.ts'
import { unavailable } from '../../../src/core/problem.ts'
import { isOneOfTwo, onTwoOrEveryBackend } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { pluginFolder, recorded, recorder } from '../../support/drop-ins.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import {
  type Caller,
  deleteFile,
  newClient,
  postZip,
  rawPath,
  uploadOne,
  type WireRecord,
} from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { longOnce, usuallyOnce } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { startedWithClock } from '../../support/stored/clock.ts'
import { filePath, listAll } from '../../support/stored/files.ts'
import { settled } from '../../support/stored/settled.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { expectLasting } from '../../support/texts/lasting.ts'

onTwoOrEveryBackend('soft delete', (start, backend, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  const itLongOnce = longOnce(itOnce)
  let service: Service
  let client: Caller & { id: string }
  let png: Buffer
  /** For one test: fails what is written to the bucket. */
  let refuses = (_key: string) => false
  /** For one test: that of the service. */
  const clock = { aheadMs: 0 }
  before(async () => {
    png = await picture()
    const failing = wrapBuckets((bucket) => ({
      put: async (key, bytes, options) => {
        if (refuses(key)) throw new Error('the disk is broken')
        return bucket.put(key, bytes, options)
      },
    }))
    service = await startedWithClock(clock, () => start({ clientCacheTtlMs: 200, wrapStorage: failing }))
  })
  beforeEach(async () => {
    refuses = () => false
    clock.aheadMs = 0
    client = await newKeepingClient(service, 3600)
  })

  async function newKeepingClient(of: Service, keepDeletedSeconds: number) {
    const made = await newClient(of)
    await of.app.clients.setRules(made.id, { keepDeletedSeconds })
    return made
  }

  async function withDerivative(caller: Caller = client, path = 'f'): Promise<WireRecord> {
    const record = await uploadOne(caller, { name: 'a.png', bytes: png }, { path })
    await exchange(caller, `${record.src}?w=10`)
    await settled('app' in caller ? (caller as Service) : service)
    return record
  }
  const restore = async (paths: string[], options = {}) => {
    const { body } = await ask(client, '/v1/files/restore', { method: 'POST', json: { paths }, ...options })
    return (body as { results: Array<{ status: string; code?: string }> }).results.map(
      ({ status, code }) => code ?? status,
    )
  }
  itOnce('notes the tag of the record, so that a comparison reads nothing of the file', async () => {
    const { s3PathOriginal } = await uploadOne(client, { name: 'a.png', bytes: png })
    const key = storedKey(s3PathOriginal)
    const tagged = async () => {
      const bucket = service.storage.buckets.of({ id: client.id, token: client.tokens.clientToken })
      const record = await bucket.find(recordKey(key))
      const { original } = await service.storage.index.find({ clientId: client.id, key })
      return original && 'record' in original && [original.state, original.recordTag === record?.tag]
    }
    await deleteFile(client, s3PathOriginal)
    expect(await tagged()).to.deep.equal(['trashed', true])
    await restore([s3PathOriginal])
    expect(await tagged()).to.deep.equal(['stored', true])
  })

  const objectsOf = async ({ sourceName }: WireRecord, of = service) =>
    (await of.objects()).filter((name) => name.includes(sourceName))
  const keysOf = (files: readonly WireRecord[]) => files.map(({ s3PathOriginal }) => s3PathOriginal)

  /** Every way to a file. */
  async function statuses(record: WireRecord): Promise<number[]> {
    const key = record.s3PathOriginal
    const other = await uploadOne(client, { name: 'o.png', bytes: png })
    const answers = [
      exchange(service, record.src),
      exchange(service, `${record.src}?w=10`),
      exchange(service, `${record.src}?w=11`),
      exchange(service, record.src.replace('/upload/', '/info/')),
      exchange(service, rawPath(client, key)),
      exchange(service, rawPath(client, `${key}_w=10`)),
      exchange(service, `${other.src}?wm=${encodeURIComponent(key)}`),
      ask(client, filePath(key)),
      ask(client, filePath(key), { method: 'PATCH', json: {} }),
    ]
    const found = (await Promise.all(answers)).map(({ status }) => status)
    const zip = await postZip(client, { files: [{ path: key }] })
    const inZip = Buffer.from(await zip.arrayBuffer()).includes(png)
    await ask(client, `/v1/upload/${other.s3PathOriginal}?now`, { method: 'DELETE' })
    return [...found, inZip ? 200 : 404]
  }

  itUsuallyOnce('responds 404 everywhere at once, and a restore brings everything back', async () => {
    const record = await withDerivative()
    const before = (await ask(client, filePath(record.s3PathOriginal))).body
    const stored = await objectsOf(record)
    const since = Date.now()
    const response = await deleteFile(client, record.s3PathOriginal)
    const answer = (await response.json()) as { deletedUntil: string }
    expect({ ...answer, status: response.status }).to.deep.equal({
      status: 200,
      s3PathOriginal: record.s3PathOriginal,
      derivatives: 1,
      deletedUntil: answer.deletedUntil,
    })
    expectLasting(answer.deletedUntil, { since, ms: 3_600_000 })
    expect(await statuses(record)).to.deep.equal(Array(10).fill(404))
    expect(await listAll(client)).to.deep.equal([])
    const [trashed] = await listAll(client, 'deleted')
    expect(trashed).to.include({ s3PathOriginal: record.s3PathOriginal, deletedUntil: answer.deletedUntil })
    expect(await objectsOf(record)).to.deep.equal(stored)
    expect((await deleteFile(client, record.s3PathOriginal)).status, 'once more').to.equal(404)

    expect(await restore([record.s3PathOriginal])).to.deep.equal(['restored'])
    expect((await ask(client, filePath(record.s3PathOriginal))).body).to.deep.equal(before)
    expect(await statuses(record)).to.deep.equal(Array(10).fill(200))
    expect(await listAll(client, 'deleted')).to.deep.equal([])
    expect(await restore([record.s3PathOriginal, 'x.txt', '../x'])).to.deep.equal([
      'not_deleted',
      'file_not_found',
      'bad_path',
    ])
  })

  itUsuallyOnce('becomes permanent when its retention ends, by a sweep', async () => {
    const patient = await newKeepingClient(service, 2 * 3600)
    const longer = await withDerivative(patient)
    await deleteFile(patient, longer.s3PathOriginal)
    const brief = await newKeepingClient(service, 3600)
    const record = await withDerivative(brief)
    await deleteFile(brief, record.s3PathOriginal)
    clock.aheadMs = 1.5 * 3_600_000
    client = brief
    expect(await restore([record.s3PathOriginal]), 'before the sweep').to.deep.equal(['file_not_found'])
    await service.app.sweep()
    expect(await objectsOf(record)).to.deep.equal([])
    expect(await listAll(brief, 'deleted')).to.deep.equal([])
    expect(await objectsOf(longer)).to.have.length(3)
  })

  itUsuallyOnce('persists when the index is lost, and the file can still be restored', async () => {
    const dataDir = await temporaryFolder()
    const first = await start({ dataDir })
    await first.app.clients.setRules('first', { keepDeletedSeconds: 3600 })
    const names = ['kept', 'trashed', 'asked']
    const records: WireRecord[] = []
    for (const name of names) records.push(await uploadOne(first, { name, bytes: name }))
    const [kept, trashed, asked] = records as [WireRecord, WireRecord, WireRecord]
    for (const { s3PathOriginal } of [trashed, asked]) await deleteFile(first, s3PathOriginal)
    const before = await listAll(first, 'deleted&sort=key')
    await first.stop({ keepData: true })
    await backend.emptyIndex(dataDir)
    const second = await start({ dataDir })
    // Also before the index is whole again.
    expect((await exchange(second, asked.src.replace(first.url, second.url))).status).to.equal(404)
    await command(second, 'reindex')
    expect(keysOf(await listAll(second))).to.deep.equal([kept.s3PathOriginal])
    const relocated = JSON.parse(JSON.stringify(before).replaceAll(first.url, second.url))
    expect(await listAll(second, 'deleted&sort=key')).to.deep.equal(relocated)
    const { answer, findings } = await command(second, 'check')
    expect(findings).to.deep.equal([])
    expect(answer).to.include({ originals: 3 })
    const { body } = await ask(second, '/v1/files/restore', {
      method: 'POST',
      json: { paths: [trashed.s3PathOriginal] },
    })
    expect(body).to.deep.equal({ results: [{ path: trashed.s3PathOriginal, status: 'restored' }] })
    expect((await exchange(second, trashed.src.replace(first.url, second.url))).status).to.equal(200)
  })

  it('is consistent after many concurrent deletes and restores', async () => {
    const record = await uploadOne(client, { name: 'a.txt', bytes: 'a' })
    const key = record.s3PathOriginal
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => (i % 2 ? deleteFile(client, key) : restore([key]))),
    )
    for (const answer of answers)
      if (answer instanceof Response) expect(answer.status).to.be.oneOf([200, 404])
    const { original } = await service.storage.index.find({ clientId: client.id, key: storedKey(key) })
    const bucket = service.storage.buckets.of({ id: client.id, token: '' })
    const asset = await bucket.find(storedKey(`.sluice/meta/${key}.json`))
    const chunks: Buffer[] = []
    for await (const chunk of (await asset?.open()) ?? []) chunks.push(chunk)
    const isTrashed = 'trash' in JSON.parse(Buffer.concat(chunks).toString())
    expect(original?.state).to.equal(isTrashed ? 'trashed' : 'stored')
  })

  // The rest does not depend on the combination of bucket and index.
  if (!isOneOfTwo(backend)) return

  itUsuallyOnce('is permanent with now, for stored and for deleted files', async () => {
    const [first, second, third, live] = [
      await withDerivative(),
      await withDerivative(),
      await withDerivative(),
      await withDerivative(),
    ]
    await deleteFile(client, first.s3PathOriginal)
    await deleteFile(client, third.s3PathOriginal)
    const url = (record: WireRecord, query: string) => `/v1/upload/${record.s3PathOriginal}?${query}`
    expect((await ask(client, url(first, 'now=0'), { method: 'DELETE' })).status).to.equal(404)
    for (const record of [first, second]) {
      const { status, body } = await ask(client, url(record, 'now'), { method: 'DELETE' })
      expect({ status, body }).to.deep.equal({
        status: 200,
        body: { s3PathOriginal: record.s3PathOriginal, derivatives: 1 },
      })
      expect(await objectsOf(record)).to.deep.equal([])
      expect(await restore([record.s3PathOriginal])).to.deep.equal(['file_not_found'])
    }
    await ask(client, '/v1/files/delete', { method: 'POST', json: { prefix: 'f', now: true } })
    for (const record of [third, live]) expect(await objectsOf(record)).to.deep.equal([])
    expect(await listAll(client, 'deleted')).to.deep.equal([])
  })

  itOnce(
    'requires a secret that is not limited by only, and stays within the folder of the secret',
    async () => {
      const inside = await withDerivative(client, 'a')
      const outside = await withDerivative(client, 'b')
      for (const { s3PathOriginal } of [inside, outside]) await deleteFile(client, s3PathOriginal)
      const { secret } = await service.app.clients.addSecret(client.id, { scope: { folder: 'a' } })
      expect(keysOf(await listAll(client, 'deleted', { secret }))).to.deep.equal([inside.s3PathOriginal])
      const paths = [outside.s3PathOriginal, inside.s3PathOriginal]
      expect(await restore(paths, { secret })).to.deep.equal(['file_not_found', 'restored'])
      const other = await newClient(service)
      const theirs = await ask(other, '/v1/files/restore', { method: 'POST', json: { paths } })
      expect((theirs.body as { results: object[] }).results.every((one) => 'code' in one)).to.equal(true)
      const reading = await service.app.clients.addSecret(client.id, { scope: { only: 'read' } })
      const refused = await ask(client, '/v1/files/restore', {
        method: 'POST',
        json: { paths },
        secret: reading.secret,
      })
      expect(refused.status).to.equal(403)
      for (const json of [{}, { paths: [] }, { paths: [1] }, { prefix: 'a' }])
        expect((await ask(client, '/v1/files/restore', { method: 'POST', json })).status).to.equal(400)
    },
  )

  itOnce('responds 404 also while the index is unavailable', async () => {
    let isAway = false
    const lonely = await start({
      wrapStorage: ({ buckets, index }) => ({
        buckets,
        index: {
          ...index,
          find: async (...args) => {
            if (isAway) throw unavailable('away')
            return index.find(...args)
          },
        },
      }),
    })
    await lonely.app.clients.setRules('first', { keepDeletedSeconds: 3600 })
    const kept = await uploadOne(lonely, { name: 'a.txt', bytes: 'a' })
    const trashed = await uploadOne(lonely, { name: 'b.txt', bytes: 'b' })
    await deleteFile(lonely, trashed.s3PathOriginal)
    isAway = true
    expect((await exchange(lonely, kept.src)).status).to.equal(200)
    expect((await exchange(lonely, trashed.src)).status).to.equal(404)
    expect((await exchange(lonely, rawPath(lonely, trashed.s3PathOriginal))).status).to.equal(404)
  })

  itOnce('is completed on retry when the bucket has refused the record', async () => {
    const record = await withDerivative()
    refuses = (key) => key.startsWith('.sluice/meta/')
    expect((await deleteFile(client, record.s3PathOriginal)).status).to.equal(500)
    expect((await exchange(service, record.src)).status).to.equal(404)
    refuses = () => false
    expect((await deleteFile(client, record.s3PathOriginal)).status).to.equal(200)
    refuses = (key) => key.startsWith('.sluice/meta/')
    const failed = await ask(client, '/v1/files/restore', {
      method: 'POST',
      json: { paths: [record.s3PathOriginal] },
    })
    expect(failed.status).to.equal(500)
    expect((await exchange(service, record.src)).status).to.equal(404)
    refuses = () => false
    expect(await restore([record.s3PathOriginal])).to.deep.equal(['restored'])
  })

  itOnce(
    'is never permanent without now, also when a restore comes between the steps of a second delete',
    async () => {
      let beforeRemoval = async () => {}
      const racing = await start({
        wrapStorage: ({ buckets, index }) => ({
          buckets,
          index: {
            ...index,
            beginRemoval: async (...args) => {
              await beforeRemoval()
              return index.beginRemoval(...args)
            },
          },
        }),
      })
      const keeping = await newKeepingClient(racing, 3600)
      const { s3PathOriginal: key, src } = await uploadOne(keeping, { name: 'a.png', bytes: png })
      const restored = async () =>
        ask(keeping, '/v1/files/restore', { method: 'POST', json: { paths: [key] } })
      await deleteFile(keeping, key)
      beforeRemoval = async () => void (await restored())
      expect((await deleteFile(keeping, key)).status).to.equal(404)
      beforeRemoval = async () => {}
      await restored()
      expect((await exchange(keeping, src)).status).to.equal(200)
    },
  )

  itUsuallyOnce('is permanent when the client is removed', async () => {
    const record = await withDerivative()
    await deleteFile(client, record.s3PathOriginal)
    await command(service, 'client remove', { id: client.id, files: true })
    expect((await service.objects()).filter((name) => name.includes(client.id))).to.deep.equal([])
  })

  itLongOnce('emits events for delete, restore and permanent delete', async () => {
    const file = join(await temporaryFolder(), 'events')
    const folder = await pluginFolder({ 'recorder.js': recorder(file) })
    const watched = await start({ env: { PLUGINS_DIR: folder } })
    await watched.app.clients.setRules('first', { keepDeletedSeconds: 1 })
    const record = await withDerivative(watched)
    const key = record.s3PathOriginal
    const { src, format } = record
    const place = { clientId: 'first', key, src, format, folder: 'f', tags: [], metadata: {} }
    const told = async (count: number) => {
      const named = () =>
        recorded(file).then((all) => all.filter(({ name }) => /^original\.[trd]/.test(name)))
      await eventually(async () => expect(await named()).to.have.length(count))
      return (await named()).at(-1)
    }
    const { deletedUntil } = (await (await deleteFile(watched, key)).json()) as { deletedUntil: string }
    const derivatives = [`${key}_w=10`]
    expect(await told(1)).to.deep.equal({
      name: 'original.trashed',
      event: { ...place, derivatives, until: Date.parse(deletedUntil) },
    })
    await ask(watched, '/v1/files/restore', { method: 'POST', json: { paths: [key] } })
    expect(await told(2)).to.have.property('name', 'original.restored')
    await deleteFile(watched, key)
    await told(3)
    await pause(1100)
    await watched.app.sweep()
    expect(await told(4)).to.deep.equal({
      name: 'original.deleted',
      event: { ...place, derivatives },
    })
  })
})
