import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { createClient } from '../../../client/index.ts'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import { ADMIN_PASSWORD } from '../../support/requests/admin.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, deleteFile, newClient, postZip, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { settled } from '../../support/stored/settled.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

interface WireUsage {
  files: number
  storedBytes: number
  deletedFiles: number
  deletedBytes: number
  days: Array<
    Record<'uploads' | 'uploadedBytes' | 'deliveries' | 'deliveredBytes' | 'transformations', number> & {
      day: string
    }
  >
}

onOneOrTwoBackends('GET /v1/usage', (start, backend, itOnce) => {
  let service: Service
  let client: Caller & { id: string }
  before(async () => {
    service = await start()
  })
  beforeEach(async () => {
    client = await newClient(service)
  })

  const usage = async (caller: Caller = client, query = '') => {
    const { status, body } = await ask(caller, `/v1/usage${query}`)
    expect(status).to.equal(200)
    return body as WireUsage
  }
  const today = async (caller: Caller = client) => (await usage(caller)).days.at(-1)

  itOnce('returns zeros for each of 30 days without activity', async () => {
    const { days, ...stored } = await usage()
    expect(stored).to.deep.equal({ files: 0, storedBytes: 0, deletedFiles: 0, deletedBytes: 0 })
    expect(days).to.have.length(30)
    expect(days.at(-1)).to.deep.equal({
      day: new Date().toISOString().slice(0, 10),
      uploads: 0,
      uploadedBytes: 0,
      deliveries: 0,
      deliveredBytes: 0,
      transformations: 0,
      cacheHits: 0,
      errors: 0,
    })
  })

  it('counts stored, sent and rendered bytes of this client only', async () => {
    const png = await picture()
    const other = await newClient(service)
    await uploadOne(other, { name: 'theirs.txt', bytes: 'theirs' })
    const text = await uploadOne(client, { name: 'a.txt', bytes: 'x'.repeat(50_000) })
    const image = await uploadOne(client, { name: 'a.png', bytes: png })
    await exchange(service, text.src)
    await exchange(service, text.src, { method: 'HEAD' })
    await exchange(service, `${image.src}?w=10`)
    // A hit is of a stored derivative.
    await settled(service)
    await exchange(service, `${image.src}?w=10`)
    await exchange(service, image.src.replace('/upload/', '/info/'))
    await exchange(service, `${image.src}?w=0`)
    await exchange(service, `${text.src}x`)
    await (await postZip(client, { files: [{ path: text.sourceName, type: 'text' }] })).arrayBuffer()
    await settled(service)
    await eventually(async () => {
      const day = await today()
      expect(day).to.include({
        uploads: 2,
        uploadedBytes: 50_000 + png.length,
        deliveries: 5,
        transformations: 1,
        cacheHits: 1,
        errors: 2,
      })
      expect(day?.deliveredBytes).to.be.within(50_000, 60_000)
    })
    expect(await usage()).to.include({ files: 2, storedBytes: 50_000 + png.length })
    expect(await today(other)).to.include({ uploads: 1, uploadedBytes: 6, deliveries: 0, transformations: 0 })
    const { answer } = await command(service, 'usage', { clientId: client.id })
    expect(answer[0 as never]).to.deep.include({
      clientId: client.id,
      stored: { files: 2, bytes: 50_000 + png.length },
    })
  })

  itOnce('is returned by client and day to the operator', async () => {
    const operated = await start({ env: { ADMIN_PASSWORD } })
    const operator = createClient({ baseUrl: operated.url })
    await operator.clients.signIn(ADMIN_PASSWORD)
    const shop = await newClient(operated)
    const idle = await newClient(operated)
    const { src } = await uploadOne(shop, { name: 'a.txt', bytes: 'four' })
    await exchange(operated, src)
    await exchange(operated, `${src}x`)
    const day = new Date().toISOString().slice(0, 10)
    const none = {
      uploads: 0,
      uploadedBytes: 0,
      deliveries: 0,
      bytes: 0,
      transformations: 0,
      cacheHits: 0,
      errors: 0,
    }
    await eventually(async () => {
      const { days } = await operator.clients.usage()
      const [ofShop, ofIdle] = [shop, idle].map(({ id }) => days.filter(({ client }) => client === id))
      expect(ofIdle).to.deep.equal([{ day, client: idle.id, storedBytes: 0, ...none }])
      expect(ofShop).to.have.length(1)
      expect(ofShop?.[0]).to.include({
        storedBytes: 4,
        uploads: 1,
        uploadedBytes: 4,
        deliveries: 1,
        errors: 1,
      })
      expect(ofShop?.[0]?.bytes).to.be.above(4)
    })
    expect(await operator.clients.usage({ from: '2025-11-30', to: '2025-12-02' })).to.deep.equal({ days: [] })
    expect(await rejection(operator.clients.usage({ from: '2026-11-30', to: '2026-11-29' }))).to.include({
      status: 400,
      code: 'bad_parameter',
    })
    const withSecret = createClient({ baseUrl: operated.url, adminToken: shop.tokens.secretClientToken })
    expect(await rejection(withSecret.clients.usage())).to.include({ status: 401, code: 'not_signed_in' })
  })

  itOnce('returns the current storage, with soft deletes', async () => {
    const [one, two] = [
      await uploadOne(client, { name: 'a.txt', bytes: '1' }),
      await uploadOne(client, { name: 'b.txt', bytes: '22' }),
    ]
    await deleteFile(client, one.s3PathOriginal)
    await service.app.clients.setRules(client.id, { keepDeletedSeconds: 3600 })
    await deleteFile(client, two.s3PathOriginal)
    await uploadOne(client, { name: 'c.txt', bytes: '333' })
    await eventually(async () => {
      expect(await usage()).to.include({ files: 1, storedBytes: 3, deletedFiles: 1, deletedBytes: 2 })
      expect(await today()).to.include({ uploads: 3, uploadedBytes: 6 })
    })
  })

  it('persists across processes, and recounts the storage when the index was lost', async () => {
    const dataDir = await temporaryFolder()
    const first = await start({ dataDir })
    const { src } = await uploadOne(first, { name: 'a.txt', bytes: 'four' })
    await exchange(first, src)
    // No request has been sent, and it is less than five seconds old: a graceful stop writes it.
    await pause(300)
    await first.stop({ keepData: true })
    const second = await start({ dataDir })
    expect(await today(second)).to.include({ uploads: 1, uploadedBytes: 4, deliveries: 1 })
    await second.stop({ keepData: true })
    await backend.emptyIndex(dataDir)
    const third = await start({ dataDir })
    await eventually(async () => expect(await usage(third)).to.include({ files: 1, storedBytes: 4 }))
  })

  itOnce('returns the requested days', async () => {
    expect((await usage(client, '?from=2026-02-27&to=2026-03-01')).days.map(({ day }) => day)).to.deep.equal([
      '2026-02-27',
      '2026-02-28',
      '2026-03-01',
    ])
    expect((await usage(client, '?from=2026-02-27&to=2026-02-27')).days).to.have.length(1)
    for (const query of [
      'from=x',
      'from=2026-02-30',
      'to=2026-13-01',
      'from=2026-03-02&to=2026-03-01',
      'from=2024-01-01&to=2026-03-01',
      'from=2026-03-01&from=2026-03-01',
      'day=2026-03-01',
    ])
      expect((await ask(client, `/v1/usage?${query}`)).status, query).to.equal(400)
    expect((await exchange(service, '/v1/usage')).status).to.equal(401)
    for (const scope of [{ folder: 'a' }, { only: 'upload' as const }]) {
      const { secret } = await service.app.clients.addSecret(client.id, { scope })
      expect((await ask(client, '/v1/usage', { secret })).status).to.equal(403)
    }
  })
})
