import { Readable } from 'node:stream'
import { expect } from 'chai'
import sharp from 'sharp'
import { FIRST_CLIENT_ID } from '../../../src/core/clients/client.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { onEveryBucket } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { newClient, postFiles, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { itLong, usuallyOnce } from '../../support/sized.ts'

const FOLDER = 'old site/photos'

onEveryBucket('objects of other systems', (start, _, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  let service: Service
  let png: Buffer
  before(async () => {
    png = await picture({ width: 40, height: 30 })
    service = await start({ env: { FOREIGN_PREFIXES: `${FOLDER}, other/`, VARIANT_LIMIT: '3' } })
    await put(`${FOLDER}/ä b.jpg`, png)
    await put(`${FOLDER}/page.html`, '<!doctype html><script>1</script>')
    await put('private/c.png', png)
  })

  const bucket = () => service.storage.buckets.of({ id: FIRST_CLIENT_ID, token: '' })

  /** As another program would. */
  async function put(path: string, bytes: Buffer | string): Promise<void> {
    await bucket().put(storedKey(path), Readable.from([Buffer.from(bytes)]), { mediaType: 'x/y' })
  }

  function get(path: string, { group = 'image', query = '', method = 'GET', headers = {} } = {}) {
    const encoded = path.split('/').map(encodeURIComponent).join('/')
    const target = `/v1/${group}/foreign/${service.tokens.clientToken}/${encoded}${query}`
    return exchange(service, target, { method, headers })
  }

  async function derivatives(): Promise<string[]> {
    const keys: string[] = []
    for await (const key of bucket().list('.sluice/foreign/')) keys.push(key)
    return keys
  }

  it('are delivered with the type of their bytes, ranges and an ETag', async () => {
    const whole = await get(`${FOLDER}/ä b.jpg`)
    expect(whole.status).to.equal(200)
    expect(whole.headers['content-type']).to.equal('image/png')
    expect(whole.body.equals(png)).to.equal(true)
    const part = await get(`${FOLDER}/ä b.jpg`, { headers: { Range: 'bytes=1-3' } })
    expect([part.status, part.body.toString()]).to.deep.equal([206, 'PNG'])
    const known = await get(`${FOLDER}/ä b.jpg`, { headers: { 'If-None-Match': String(whole.headers.etag) } })
    expect(known.status).to.equal(304)
    expect(whole.headers['cache-control']).to.include('max-age=60')
    const page = await get(`${FOLDER}/page.html`, { group: 'text' })
    expect(page.status).to.equal(200)
    expect(page.headers['content-security-policy']).to.be.a('string')
    expect(page.headers['x-content-type-options']).to.equal('nosniff')
  })

  itUsuallyOnce('do not show a private file as a watermark', async () => {
    const client = await newClient(service)
    const { clients } = service.app
    const { s3PathOriginal } = await uploadOne(client, { name: 'a.png', bytes: png }, { path: 'invoices' })
    const place = service.storage.buckets.of({ id: client.id, token: client.tokens.clientToken })
    const path = `${FOLDER}/c.png`
    await place.put(storedKey(path), Readable.from([png]), { mediaType: 'x/y' })
    const target = `/v1/image/foreign/${client.tokens.clientToken}/${encodeURI(path)}?wm=${s3PathOriginal}`
    expect((await exchange(service, target)).status).to.equal(200)
    await clients.addUrlKey(client.id)
    await clients.setRules(client.id, { privateFolders: ['invoices'] })
    const { status, body } = await exchange(service, `${target}&w=20`)
    expect([status, JSON.parse(body.toString()).code]).to.deep.equal([404, 'asset_not_found'])
    await ask(client, `/v1/upload/${s3PathOriginal}`, { method: 'DELETE' })
  })

  itUsuallyOnce('count as deliveries of the client', async () => {
    const deliveries = async () => {
      const { body } = await ask(service, '/v1/usage')
      return (body as { days: Array<{ deliveries: number }> }).days.at(-1)?.deliveries ?? 0
    }
    const before = await deliveries()
    await get(`${FOLDER}/ä b.jpg`)
    await eventually(async () => expect(await deliveries()).to.equal(before + 1))
  })

  it('are transformed, and the result is stored below the prefix of Sluice', async () => {
    const first = await get(`${FOLDER}/ä b.jpg`, { query: '?w=20&f=webp' })
    expect(first.status, first.body.toString()).to.equal(200)
    const { width, format } = await sharp(first.body).metadata()
    expect([width, format]).to.deep.equal([20, 'webp'])
    const [stored] = await derivatives()
    expect(stored).to.match(/^\.sluice\/foreign\/[0-9a-f]{32}\/[0-9a-f]{16}_f=webp&w=20$/)
    const second = await get(`${FOLDER}/ä b.jpg`, { query: '?w=20&f=webp' })
    expect(second.body.equals(first.body)).to.equal(true)
    expect(second.headers.etag).to.equal(first.headers.etag)
    expect(await derivatives()).to.have.length(1)
  })

  itLong(
    'have new derivatives after a change, which replace the old ones; and at most VARIANT_LIMIT of them',
    async () => {
      const path = `${FOLDER}/changing.png`
      await put(path, png)
      const before = await get(path, { query: '?w=10' })
      const count = (await derivatives()).length
      await put(path, await picture({ width: 50, height: 100 }))
      const after = await get(path, { query: '?w=10' })
      expect((await sharp(after.body).metadata()).height).to.equal(20)
      expect(after.headers.etag).to.not.equal(before.headers.etag)
      expect(await derivatives()).to.have.length(count)
      for (const w of [11, 12, 13, 14]) expect((await get(path, { query: `?w=${w}` })).status).to.equal(200)
      expect(await derivatives()).to.have.length(count + 2)
    },
  )

  itUsuallyOnce(
    'are 404 outside of the prefixes and for another type, and 400 for an invalid path',
    async () => {
      const codes = async (path: string, options = {}) => {
        const { status, body } = await get(path, options)
        return [status, JSON.parse(body.toString()).code]
      }
      expect(await codes('private/c.png')).to.deep.equal([404, 'file_not_found'])
      expect(await codes(`${FOLDER}/none.png`)).to.deep.equal([404, 'file_not_found'])
      expect(await codes(`${FOLDER}`)).to.deep.equal([404, 'file_not_found'])
      expect(await codes('.sluice/clients/first.json', { group: 'text' })).to.deep.equal([
        404,
        'file_not_found',
      ])
      expect(await codes(`${FOLDER}/ä b.jpg`, { group: 'video' })).to.deep.equal([404, 'file_not_found'])
      expect(await codes(`${FOLDER}/page.html`, { group: 'text', query: '?w=1' })).to.satisfy(
        ([status]: [number]) => status === 400,
      )
      const up = `/v1/image/foreign/${service.tokens.clientToken}/${encodeURIComponent(`${FOLDER}/../../private`)}/c.png`
      expect((await exchange(service, up)).status).to.equal(400)
      expect(await codes(`${FOLDER}/ä b.jpg`, { query: '?w=0' })).to.deep.equal([400, 'bad_parameter'])
    },
  )

  it('are never deleted: DELETE is refused', async () => {
    const { status, headers } = await get(`${FOLDER}/ä b.jpg`, { method: 'DELETE' })
    expect(status).to.equal(405)
    expect(headers.allow).to.equal('GET, HEAD, OPTIONS')
    expect(
      (await ask(service, `/v1/upload/${encodeURIComponent(`${FOLDER}/ä b.jpg`)}`, { method: 'DELETE' }))
        .status,
    ).to.be.oneOf([400, 404])
    expect((await get(`${FOLDER}/ä b.jpg`)).status).to.equal(200)
  })

  it('are listed page by page, by callers with a secret', async () => {
    type Page = { objects: Array<{ path: string; src: string | null; size: number }>; cursor: string | null }
    const page = async (query: string): Promise<Page> => (await ask(service, `/v1/foreign?${query}`)).body
    await put(`${FOLDER}/changing.png`, png)
    await put('other/x/y.bin', 'z')
    const first = await page('limit=2')
    const second = await page(`limit=2&cursor=${first.cursor}`)
    const all = [...first.objects, ...second.objects]
    expect(all.map(({ path }) => path)).to.deep.equal([
      `${FOLDER}/changing.png`,
      `${FOLDER}/page.html`,
      `${FOLDER}/ä b.jpg`,
      'other/x/y.bin',
    ])
    expect(second.cursor).to.equal(null)
    expect(all[2]?.size).to.equal(png.length)
    expect((await fetch(String(all[2]?.src))).status).to.equal(200)
    expect((await page('prefix=other/')).objects).to.have.length(1)
    expect((await page('prefix=private/')).objects).to.deep.equal([])
    expect((await fetch(`${service.url}/v1/foreign`)).status).to.equal(401)
  })

  it('are not changed even if they have names of originals: not by a DELETE, an upload, nor the removal of the client', async () => {
    const client = await newClient(service)
    const theirs = service.storage.buckets.of({ id: client.id, token: '' })
    const key = storedKey(`${FOLDER}/image/png/7JAiMJ5xg1xH6JYSiPjo5R.png`)
    await theirs.put(key, Readable.from([png]), { mediaType: 'image/png' })
    const path = `/v1/image/upload/${client.tokens.clientToken}/${encodeURI(key)}`
    expect((await exchange(service, path)).status).to.equal(404)
    expect((await ask(client, `/v1/upload/${encodeURI(key)}`, { method: 'DELETE' })).status).to.equal(404)
    const upload = await postFiles(client, [{ name: 'a.png', bytes: png }], { path: FOLDER })
    expect([upload.status, ((await upload.json()) as { code: string }).code]).to.deep.equal([400, 'bad_path'])
    await command(service, 'client remove', { id: client.id, files: true })
    expect(await theirs.find(key)).to.include({ size: png.length })
    const left: string[] = []
    for await (const one of theirs.list('')) left.push(one)
    expect(left).to.deep.equal([key])
  })

  itUsuallyOnce('need a signed URL in a private folder', async () => {
    const client = await newClient(service)
    await service.app.clients.addUrlKey(client.id)
    await service.app.clients.setRules(client.id, { privateFolders: ['other'] })
    const theirs = service.storage.buckets.of({ id: client.id, token: '' })
    await theirs.put(storedKey('other/a.png'), Readable.from([png]), { mediaType: 'image/png' })
    const url = `${service.url}/v1/image/foreign/${client.tokens.clientToken}/other/a.png`
    const refused = await fetch(url)
    expect([refused.status, ((await refused.json()) as { code: string }).code]).to.deep.equal([
      403,
      'url_unsigned',
    ])
    const { body } = await ask(client, '/v1/sign/url', { method: 'POST', json: { url } })
    expect((await fetch((body as { url: string }).url)).status).to.equal(200)
  })

  it('are no findings of check', async () => {
    const { answer, findings } = await command(service, 'check')
    expect(findings).to.deep.equal([])
    expect(answer).to.include({ originals: 0, derivatives: 0 })
  })
})
