import { expect } from 'chai'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { entriesOf } from '../../support/requests/archive.ts'
import { type Caller, newClient, postZip, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { settled } from '../../support/stored/settled.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

onOneBackend('the rules of a client', (start) => {
  let service: Service
  let client: Caller & { id: string }
  let record: WireRecord
  before(async () => {
    service = await start()
  })
  beforeEach(async () => {
    client = await newClient(service)
    record = await uploadOne(client, { name: 'a.png', bytes: await picture() })
  })

  const get = (query: string) => exchange(service, `${record.src}?${query}`)
  const variantOf = async (query: string) => {
    const { headers } = await get(query)
    return String(headers.etag).replace(/^.*_|"$/g, '')
  }

  it('allow only presets, without other parameters, with presetsOnly', async () => {
    await service.app.clients.setRules(client.id, { presetsOnly: true })
    for (const query of ['w=20', 'preset=thumbnail&w=20', 'f=auto', 'preset=thumbnail&q=75']) {
      const answer = await get(query)
      expect(answer.status, query).to.equal(403)
      expect(answer.headers['cache-control']).to.equal('no-store')
      expect(jsonOf(answer)).to.include({ code: 'presets_only', expected: 'preset' })
    }
    for (const query of ['', 'preset=thumbnail', 'preset=thumbnail&v=2&utm_source=x'])
      expect((await get(query)).status, query).to.equal(200)
    const saved = await get('preset=thumbnail&download=b.png')
    expect(saved.headers['content-disposition']).to.include('b.png')
  })

  it('apply to archives', async () => {
    await service.app.clients.setRules(client.id, { presetsOnly: true })
    const { sourceName: path } = record
    const answer = await postZip(client, { files: [{ path, params: { w: 20 } }, { path }] })
    const [only, manifest] = entriesOf(Buffer.from(await answer.arrayBuffer()))
    expect(only?.name).to.equal(path)
    expect(JSON.parse(String(manifest?.bytes))[0]).to.include({ status: 'error', code: 403 })
  })

  it('round widths to the allowed ones before the derivative gets its key', async () => {
    await service.app.clients.setRules(client.id, { allowedWidths: [40, 80] })
    for (const query of ['w=41', 'w=79', 'w=40&dpr=2', 'width=5000', 'w=80'])
      expect(await variantOf(query), query).to.equal('w=80')
    expect(await variantOf('w=20&h=10')).to.equal('h=20&w=40')
  })

  it('apply to this client only', async () => {
    await service.app.clients.setRules(client.id, { presetsOnly: true, allowedWidths: [40] })
    const other = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const { status, headers } = await exchange(service, `${other.src}?w=20`)
    expect(status).to.equal(200)
    expect(headers.etag).to.match(/_w=20"$/)
  })

  it('can set a variant limit that overrides the environment, and remove it again', async () => {
    const stored = async (...queries: string[]) => {
      for (const query of queries) {
        expect((await get(query)).status).to.equal(200)
        await settled(service)
      }
      const ref = { clientId: client.id, key: storedKey(record.s3PathOriginal) }
      return (await service.storage.index.look(ref))?.derivatives.length
    }
    await service.app.clients.setRules(client.id, { variantLimit: 1 })
    expect(await stored('w=10', 'w=11')).to.equal(1)
    await service.app.clients.setRules(client.id, { variantLimit: 2 })
    expect(await stored('w=12', 'w=13', 'w=14')).to.equal(2)
    await service.app.clients.setRules(client.id, { variantLimit: false })
    expect(await stored('w=15', 'w=16')).to.equal(4)
  })

  it('are restored at the next start', async () => {
    const dataDir = await temporaryFolder()
    const before = await start({ dataDir })
    const mine = await newClient(before)
    await before.app.clients.setRules(mine.id, { presetsOnly: true })
    const { src } = await uploadOne(mine, { name: 'a.png', bytes: await picture() })
    await before.stop({ keepData: true })
    const after = await start({ dataDir })
    expect((await exchange(after, `${src.slice(before.url.length)}?w=20`)).status).to.equal(403)
    await after.stop()
  })
})
