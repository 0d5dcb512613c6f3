import { expect } from 'chai'
import { BACKENDS, onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { ADMIN_PASSWORD, type Admin, signedIn } from '../../support/requests/admin.ts'
import { type Caller, newClient, postFiles, postZip, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { patch, tus } from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'

const [, , , S3_REDIS] = BACKENDS

onOneBackend('limits of a single client', (start, backend) => {
  const env = { ADMIN_PASSWORD, UPLOAD_MAX_BYTES: '1000000', UPLOAD_RATE_LIMIT: '3', ZIP_RATE_LIMIT: '2' }
  let service: Service
  let ask: Admin
  let client: Caller & { id: string }
  before(async () => {
    service = await start({ env })
    ask = await signedIn(service)
  })
  beforeEach(async () => {
    client = await newClient(service)
  })

  const rules = async (changes: object) => {
    const { status, json } = await ask('PATCH', `/${client.id}`, { rules: changes })
    expect(status, JSON.stringify(json)).to.equal(200)
    return json.rules
  }
  const text = (length: number) => [{ name: 'a.txt', bytes: 'x'.repeat(length) }]

  it('apply the maximum upload size to this client only, to the byte', async () => {
    await rules({ uploadMaxBytes: 1000 })
    expect((await postFiles(client, text(1000))).status).to.equal(200)
    const before = await service.objects()
    const refused = await postFiles(client, text(1001))
    expect(refused.status).to.equal(413)
    expect(await refused.json()).to.include({ code: 'too_large', maxBytes: 1000 })
    expect(await service.objects()).to.deep.equal(before)
    expect((await postFiles(service, text(1001))).status).to.equal(200)
    const { status, json } = await ask('PATCH', `/${client.id}`, { rules: { uploadMaxBytes: 1_000_001 } })
    expect([status, json.param]).to.deep.equal([400, 'uploadMaxBytes'])
    await rules({ uploadMaxBytes: null })
    expect((await postFiles(client, text(1001))).status).to.equal(200)
  })

  it('apply the maximum upload size to a resumable upload of unknown length', async () => {
    await rules({ uploadMaxBytes: 1000 })
    const deferred = { method: 'POST', headers: { 'Upload-Defer-Length': '1' } }
    const address = String((await tus(client, '/v1/tus', deferred)).headers.location)
    const inParts = await patch(client, address, { offset: 0, body: Buffer.alloc(1001) })
    expect([inParts.status, jsonOf(inParts).maxBytes]).to.deep.equal([413, 1000])
  })

  it('apply rate limits to this client only, and report them in headers', async () => {
    await rules({ rates: { upload: 5, zip: 0 } })
    for (const left of [4, 3, 2, 1, 0]) {
      const { status, headers } = await postFiles(client, text(1))
      expect(status).to.equal(200)
      expect(headers.get('ratelimit-policy')).to.equal('"upload";q=5;w=60')
      expect(headers.get('ratelimit')).to.match(new RegExp(`^"upload";r=${left};t=\\d+$`))
    }
    expect((await postFiles(client, text(1))).status).to.equal(429)
    for (let i = 0; i < 4; i += 1) {
      const archive = await postZip(client, { files: [{ path: 'x.png' }] })
      expect([archive.status, archive.headers.get('ratelimit')]).to.deep.equal([200, null])
      await archive.arrayBuffer()
    }
    const other = await newClient(service)
    expect((await postFiles(other, text(1))).headers.get('ratelimit-policy')).to.equal('"upload";q=3;w=60')
    expect(await rules({ rates: { zip: null, upload: null } })).to.equal(undefined)
    const common = await postFiles(client, text(1))
    expect(common.headers.get('ratelimit-policy')).to.equal('"upload";q=3;w=60')
  })

  it('apply presets to the files of this client only, before the global presets', async () => {
    const presets = { card: { w: 30, h: 20 }, thumbnail: { w: 10 } }
    expect(await rules({ presets })).to.deep.equal({ presets })
    const png = await picture()
    const { src } = await uploadOne(client, { name: 'a.png', bytes: png })
    const tag = async (url: string, query: string) =>
      String((await exchange(service, `${url}?${query}`)).headers.etag)
    expect(await tag(src, 'preset=card')).to.match(/_h=20&w=30"$/)
    expect(await tag(src, 'preset=thumbnail')).to.match(/_w=10"$/)
    expect(await tag(src, 'preset=preview')).to.match(/_f.*w=400"$/)
    const theirs = await uploadOne(service, { name: 'a.png', bytes: png })
    const refused = await exchange(service, `${theirs.src}?preset=card`)
    expect(refused.status).to.equal(400)
    expect(jsonOf(refused)).to.include({ code: 'unknown_preset' })
    expect(await tag(theirs.src, 'preset=thumbnail')).to.match(/h=200&w=200"$/)

    await rules({ presetsOnly: true, presets: { card: { w: 40 } } })
    expect(await tag(src, 'preset=card')).to.match(/_w=40"$/)
    expect((await exchange(service, `${src}?w=30`)).status).to.equal(403)
    await rules({ presets: null })
    expect((await exchange(service, `${src}?preset=card`)).status).to.equal(400)
  })

  it('refuse invalid presets, and list every error', async () => {
    const presets = { one: { w: 0 }, two: { nope: 1 }, three: {}, four: { w: 10 } }
    const { status, json } = await ask('PATCH', `/${client.id}`, { rules: { presets } })
    expect(status).to.equal(400)
    expect(json).to.include({ code: 'bad_presets', param: 'presets' })
    expect(json.detail).to.match(/one: .*w.*; two: .*nope.*; three: expected at least one parameter/)
    expect(json.detail).to.not.include('four')
    expect((await ask('GET', `/${client.id}`)).json).to.not.have.property('rules')
  })

  if (backend === S3_REDIS)
    it('count a rate across all processes, and apply a changed limit to what was already counted', async () => {
      const { dataDir } = service
      const beside = await start({ env: { ...env, ...(await backend.env(dataDir)) }, dataDir, backend })
      await rules({ rates: { upload: 4 } })
      const there = { ...client, url: beside.url }
      let counted = 0
      const post = async (to: Caller) => {
        counted += 1
        const { headers } = await postFiles(to, text(1))
        const [, left] = /r=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? []
        return { policy: headers.get('ratelimit-policy'), left: Number(left) }
      }
      await eventually(async () => expect(await post(there)).to.include({ policy: '"upload";q=4;w=60' }))
      await rules({ rates: { upload: 10_000 } })
      const expected = () => ({ policy: '"upload";q=10000;w=60', left: 10_000 - counted })
      expect(await post(client)).to.deep.equal(expected())
      await eventually(async () => expect(await post(there)).to.deep.equal(expected()))
      expect(await post(client)).to.deep.equal(expected())
      await beside.stop({ keepData: true })
    })
})
