import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, newClient, postZip, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { metadata, patch, recordIn, TUS, tus } from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'
import { filePath, listAll } from '../../support/stored/files.ts'

const DAY_SECONDS = 86_400

onOneBackend('private folders of a client', (start) => {
  let service: Service
  let client: Caller & { id: string }
  let key: { version: number; key: string }
  let png: Buffer
  let secretFile: WireRecord
  let publicFile: WireRecord
  before(async () => {
    service = await start()
    client = await newClient(service)
    key = (await service.app.clients.addUrlKey(client.id)).urlKey
    await service.app.clients.setRules(client.id, { privateFolders: ['private', 'a b/ü'] })
    png = await picture()
    secretFile = await uploadOne(client, { name: 'a.png', bytes: png }, { path: 'private/deep' })
    publicFile = await uploadOne(client, { name: 'b.png', bytes: png }, { path: 'privateer' })
  })

  const get = (target: string, headers = {}) => exchange(service, target, { headers })
  const sign = (target: string) => {
    const signature = createHmac('sha256', key.key).update(target).digest('base64url')
    return `${target}${target.includes('?') ? '&' : '?'}s=${key.version}.${signature}`
  }
  const encoded = (path: string) => path.split('/').map(encodeURIComponent).join('/')
  /** All delivery routes of a file, by its full key and by its short path. */
  function targetsOf({ s3PathOriginal, sourceName }: WireRecord, folder: string): string[] {
    const token = client.tokens.clientToken
    const paths = [encoded(s3PathOriginal), encoded(`${folder}/${sourceName}`)]
    return [
      ...paths.flatMap((path) => [
        `/v1/image/upload/${token}/${path}`,
        `/v1/image/upload/${token}/${path}?w=20`,
        `/v1/image/upload/${token}/${path}?download`,
        `/v1/image/info/${token}/${path}`,
        `/v1/image/info/${token}/${path}?location`,
      ]),
      `/v1/bucket/${token}/${paths[0]}`,
      `/v1/bucket/${token}/${paths[0]}_w=20`,
      `/v1/image/upload/${token}/${paths[0]}_w=20`,
      `/v1/jobs/${token}/${paths[0]}_w=20`,
    ]
  }

  it('need a signed URL at every delivery route, and other folders do not', async () => {
    const all = targetsOf(secretFile, 'private/deep')
    for (const target of all) {
      const [one, plain] = [await get(sign(target)), await get(target)]
      expect(one.status, target).to.equal(200)
      if (!target.includes('/jobs/'))
        expect(one.headers['cache-control'], target).to.equal('private, max-age=604800')
      expect(plain.status, target).to.equal(403)
      expect(jsonOf(plain).code, target).to.equal('url_unsigned')
      expect(plain.headers['cache-control']).to.equal('no-store')
    }
    for (const target of targetsOf(publicFile, 'privateer')) {
      const { status, headers } = await get(target)
      expect(status, target).to.equal(200)
      if (!target.includes('/jobs/'))
        expect(headers['cache-control'], target).to.equal('public, max-age=604800')
    }
  })

  it('are private in any percent-encoding, and for files that do not exist', async () => {
    const path = new URL(secretFile.src).pathname
    for (const target of [path.replace('private', '%70rivate'), path.replace('private/', 'private%2F')])
      expect((await get(target)).status, target).to.equal(403)
    const video = `private/video/mp4/${secretFile.sourceName.replace('.png', '.mp4')}`
    const parts = [`${video}_hls/index.m3u8`, `${video}_hls/index.m3u8/a.ts`, `${video}_storyboard/index.vtt`]
    for (const part of parts) {
      const target = `/v1/video/upload/${client.tokens.clientToken}/${part}`
      expect((await get(target)).status, target).to.equal(403)
      expect((await get(sign(target))).status, target).to.be.oneOf([400, 404])
    }
    expect((await get(path.replace('.png', '.jpg'))).status).to.equal(403)
    const other = await uploadOne(client, { name: 'a.png', bytes: png }, { path: 'a b/ü' })
    expect((await get(new URL(other.src).pathname)).status).to.equal(403)
    expect((await fetch(other.src)).status).to.equal(200)
  })

  it('do not show their files as a part of public ones, without a signature', async () => {
    const target = `${new URL(publicFile.src).pathname}?wm=${encodeURIComponent(secretFile.s3PathOriginal)}`
    const refused = await get(target)
    expect({ status: refused.status, code: jsonOf(refused).code }).to.deep.equal({
      ...{ status: 404, code: 'asset_not_found' },
    })
    expect((await get(sign(target))).status).to.equal(200)
    expect((await get(target)).status, 'a stored derivative').to.equal(404)
  })

  it('are not shown by the own URLs of derivatives either, without a signature', async () => {
    const file = await uploadOne(client, { name: 'c.png', bytes: png }, { path: 'privateer' })
    const query = `?w=30&wm=${encodeURIComponent(secretFile.s3PathOriginal)}`
    const rendered = await get(sign(`${new URL(file.src).pathname}${query}`))
    const derivative = encoded(JSON.parse(String(rendered.headers.etag)))
    const token = client.tokens.clientToken
    for (const target of [
      `/v1/image/upload/${token}/${derivative}`,
      `/v1/bucket/${token}/${derivative}`,
      `/v1/image/upload/${token}/${derivative.replaceAll('private', '%70rivate')}`,
    ]) {
      // It is stored after its first response.
      await eventually(async () => expect((await get(sign(target))).status, target).to.equal(200))
      const refused = await get(target)
      expect({ status: refused.status, code: jsonOf(refused).code }, target).to.deep.equal({
        status: 403,
        code: 'url_unsigned',
      })
    }
    const details = (await ask(client, filePath(file.s3PathOriginal))).body as {
      derivatives: { src: string }[]
    }
    expect(details.derivatives).to.have.length(1)
    for (const { src } of details.derivatives) expect((await get(src)).status, src).to.equal(200)
    const unmarked = `${new URL(file.src).pathname}?w=30&wm=${encodeURIComponent(publicFile.s3PathOriginal)}`
    const plain = await get(unmarked)
    expect(plain.status).to.equal(200)
    const own = `/v1/bucket/${token}/${encoded(JSON.parse(String(plain.headers.etag)))}`
    await eventually(async () => expect((await get(own)).status).to.equal(200))
  })

  it('are in a ZIP only with the secret', async () => {
    const body = { files: [{ path: secretFile.s3PathOriginal }] }
    expect((await postZip(client, body, { secret: client.tokens.clientToken })).status).to.equal(401)
    expect((await postZip(client, body)).status).to.equal(200)
  })

  it('have a signed src in uploads, lists and details for a day, and no other file has', async () => {
    const { srcExpires } = secretFile as WireRecord & { srcExpires: string }
    const seconds = (Date.parse(srcExpires) - Date.now()) / 1000
    expect(seconds)
      .to.be.above(DAY_SECONDS - 600)
      .and.at.most(DAY_SECONDS)
    const listed = await listAll(client, 'prefix=private')
    const details = (await ask(client, filePath(secretFile.s3PathOriginal))).body as {
      src: string
      derivatives: { src: string }[]
    }
    for (const { src } of [secretFile, ...listed, details, ...details.derivatives]) {
      const { status, headers } = await get(src)
      expect(status, src).to.equal(200)
      expect(headers['cache-control']).to.match(/^private, max-age=8\d{4}$/)
    }
    expect(publicFile).not.to.have.property('srcExpires')
    expect(new URL(publicFile.src).search).to.equal('')
    const sent = { url: `${secretFile.src}`, expiresIn: 60 }
    const again = (await ask(client, '/v1/sign/url', { method: 'POST', json: sent })).body as { url: string }
    expect((await get(again.url)).status, 'a new signature replaces the former one').to.equal(200)
    expect(again.url.match(/[?&]s=/g)).to.have.length(1)
  })

  it('have a src that expires with the secret that requested it', async () => {
    const validMs = 60_000
    const { secret } = await service.app.clients.addSecret(client.id, { scope: { only: 'read' }, validMs })
    const tokens = { ...client.tokens, secretClientToken: secret }
    const [file] = await listAll({ ...client, tokens }, 'prefix=private')
    const { srcExpires } = file as unknown as { srcExpires: string }
    expect(Date.parse(srcExpires)).to.be.at.most(Date.now() + validMs + 1000)
  })

  it('have an unsigned src in responses to uploads by link, which give no right to read', async () => {
    const json = { expiresIn: 60, folder: 'private', uses: 2 }
    const { url } = (await ask(client, '/v1/sign', { method: 'POST', json })).body as { url: string }
    const put = await fetch(url, { method: 'PUT', body: new Uint8Array(png) })
    const [record] = (await put.json()) as [WireRecord]
    expect(record).not.to.have.property('srcExpires')
    expect((await get(record.src)).status).to.equal(403)
    const size = { ...TUS, 'Upload-Length': String(png.length) }
    const created = await exchange(service, url.slice(service.url.length), { method: 'POST', headers: size })
    const address = String(created.headers.location)
    const headers = { ...TUS, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' }
    const stored = recordIn(await exchange(service, address, { method: 'PATCH', headers, body: png }))
    expect((await get(stored.src)).status).to.equal(403)
    const shown = await exchange(service, address)
    expect(JSON.parse(String(shown.body))[0]).not.to.have.property('srcExpires')
  })

  it('have a signed src in the record of a resumable upload with the secret', async () => {
    const headers = { 'Upload-Length': String(png.length), ...metadata({ folder: 'private' }) }
    const address = String((await tus(client, '/v1/tus', { method: 'POST', headers })).headers.location)
    const { src } = recordIn(await patch(client, address, { offset: 0, body: png }))
    expect((await get(src)).status).to.equal(200)
  })

  it('need a key, and valid folders', async () => {
    const other = await newClient(service)
    const set = (privateFolders: string[]) =>
      service.app.clients.setRules(other.id, { privateFolders }).then(
        () => 200,
        (error) => error.status,
      )
    expect(await set(['x'])).to.equal(409)
    const { urlKey } = await service.app.clients.addUrlKey(other.id)
    for (const folder of ['', '/x', 'x/', '../x', 'a//b']) expect(await set([folder]), folder).to.equal(400)
    expect(await set(['x', 'x'])).to.equal(200)
    const removed = await service.app.clients.removeUrlKey(other.id, urlKey.version).catch((error) => error)
    expect(removed).to.include({ status: 409 })
    expect(await set([])).to.equal(200)
  })
})
