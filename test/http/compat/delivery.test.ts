import { createHash, createHmac } from 'node:crypto'
import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { newClient, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Remote, remote } from '../../support/requests/remote.ts'
import { fetchingFrom } from '../../support/requests/remote-files.ts'
import type { Service } from '../../support/service.ts'

const SECRET = 'the-secret-of-the-account'
const KEY = '736563726574'
const SALT = '68656c6c6f'

onOneBackend('URLs of other services', (start) => {
  let service: Service
  let other: Remote
  let record: WireRecord
  let png: Buffer
  before(async () => {
    png = await picture({ width: 80, height: 40 })
    other = await remote((_, res) => res.setHeader('Content-Type', 'image/png').end(png))
    service = await start({
      env: {
        COMPAT: 'cloudinary imgproxy openinary default-uploader',
        COMPAT_CLOUDINARY_SECRET: SECRET,
        ...fetchingFrom(other),
      },
    })
    await service.app.clients.setRules(service.app.clients.ofToken(service.tokens.clientToken).id, {
      fetchHosts: ['127.0.0.1'],
    })
    record = await uploadOne(service, { name: 'a.png', bytes: png })
    for (const name of ['shop/chair.png', 'hero', 'image/png/chair.png'])
      await ask(service, `/v1/aliases/${name}`, { method: 'PUT', json: { file: record.s3PathOriginal } })
  })
  after(() => other.close())
  const get = (path: string, headers: Record<string, string> = {}) => exchange(service, path, { headers })
  const below = (name: string, path: string) => get(`/compat/${name}/${service.tokens.clientToken}/${path}`)

  const EQUAL: ReadonlyArray<readonly [service: string, path: string, query: string]> = [
    ['cloudinary', 'image/upload/shop/chair.png', ''],
    ['cloudinary', 'image/upload/c_fill,w_30,h_30/v1/shop/chair.png', '?w=30&h=30&fit=cover&enlarge=1'],
    ['cloudinary', 'image/upload/w_20/hero.webp', '?w=20&f=webp&enlarge=1'],
    ['cloudinary', 'image/upload/w_20,f_jpg/hero?_a=BAMAABRg0', '?w=20&f=jpeg&enlarge=1'],
    [
      'imgproxy',
      '_/rs:fill:30:30/g:sm/plain/local:///shop/chair.png@webp',
      '?w=30&h=30&fit=crop&func=auto&f=webp&q=79',
    ],
    ['imgproxy', `_/w:20/${Buffer.from('s3://any/shop/chair.png').toString('base64url')}`, '?w=20'],
    ['openinary', 't/w_30,h_30,c_fill,f_png/shop/chair.png', '?w=30&h=30&fit=cover&enlarge=1&f=png'],
    ['openinary', 't/shop/chair.png', ''],
    ['default-uploader', 'v1/image/upload/their_token/shop/chair.png?w=20&f=webp', '?w=20&f=webp'],
    ['default-uploader', 'v1/image/upload/their_token/chair.png?width=20', '?w=20'],
  ]
  for (const [name, path, query] of EQUAL)
    it(`deliver what our URL delivers: ${name}, ${path}`, async () => {
      const theirs = await below(name, path)
      const ours = await get(`${new URL(record.src).pathname}${query}`)
      expect(theirs.status).to.equal(200)
      expect(theirs.headers.etag).to.equal(ours.headers.etag)
      expect(theirs.headers['content-type']).to.equal(ours.headers['content-type'])
      expect(theirs.body.equals(ours.body)).to.equal(true)
      // The alias of the name may be set to another file.
      expect(theirs.headers['cache-control']).to.match(/max-age=60\b/)
      expect(theirs.headers['access-control-allow-origin']).to.equal('*')
    })

  it('count as deliveries of the client', async () => {
    const deliveries = async () => {
      const { body } = await ask(service, '/v1/usage')
      return (body as { days: Array<{ deliveries: number }> }).days.at(-1)?.deliveries ?? 0
    }
    const before = await deliveries()
    await below('openinary', 't/shop/chair.png')
    await eventually(async () => expect(await deliveries()).to.equal(before + 1))
  })

  it('deliver files by their own path as well', async () => {
    const answer = await below('cloudinary', `image/upload/w_20/${record.sourceName}`)
    expect(await sharp(answer.body).metadata()).to.include({ width: 20, height: 10 })
    expect(answer.headers['cache-control']).to.equal('public, max-age=604800')
  })

  it('fetch from other servers, by the rules for remote files', async () => {
    for (const [name, path] of [
      ['imgproxy', `_/w:20/plain/${encodeURIComponent(`${other.url('/a.png')}`)}`],
      ['imgproxy', `_/w:20/plain/${other.url('/a.png')}@png`],
      ['cloudinary', `image/fetch/w_20/${encodeURIComponent(`${other.url('/a.png')}`)}`],
    ] as const) {
      const answer = await below(name, path)
      expect(answer.status, path).to.equal(200)
      expect(await sharp(answer.body).metadata(), path).to.include({ width: 20, height: 10 })
    }
    const refused = await below('imgproxy', '_/w:20/plain/http%3A%2F%2F[::1]%2Fa.png')
    expect(jsonOf(refused)).to.include({ status: 400, code: 'url_not_allowed' })
  })

  it('name what has no equivalent, and refuse values that our parameters refuse', async () => {
    const sepia = await below('cloudinary', 'image/upload/e_sepia/hero')
    expect(jsonOf(sepia)).to.include({ status: 400, code: 'no_equivalent', received: 'e_sepia' })
    const wide = await below('imgproxy', '_/w:90000/plain/shop/chair.png')
    expect(jsonOf(wide)).to.include({ status: 400, code: 'bad_parameter', param: 'w' })
    expect((await below('cloudinary', 'image/upload/w_20/absent.png')).status).to.equal(404)
    expect((await below('cloudinary', 'image/upload/..%2f..%2fetc/passwd')).status).to.be.within(400, 404)
    expect((await get('/compat/cloudinary/unknown_token/image/upload/hero')).status).to.equal(404)
    expect((await below('default', 'image/upload/hero')).status).to.equal(404)
  })

  it('need a signature of that service if the client requires signed URLs', async () => {
    const client = await newClient(service)
    const { s3PathOriginal } = await uploadOne(client, { name: 'a.png', bytes: png })
    await ask(client, '/v1/aliases/hero', { method: 'PUT', json: { file: s3PathOriginal } })
    await service.app.clients.addUrlKey(client.id)
    await service.app.clients.setRules(client.id, { signedUrls: true })
    const path = (rest: string) => `/compat/cloudinary/${client.tokens.clientToken}/image/upload/${rest}`
    const signature = createHash('sha1').update(`w_20/hero${SECRET}`).digest('base64url').slice(0, 8)
    expect(jsonOf(await get(path('w_20/hero')))).to.include({ status: 403, code: 'url_unsigned' })
    expect(jsonOf(await get(path(`s--${signature}--/w_21/hero`)))).to.include({
      status: 403,
      code: 'url_invalid',
    })
    const answer = await get(path(`s--${signature}--/w_20/v5/hero`))
    expect(answer.status).to.equal(200)
    expect(answer.headers['cache-control']).to.match(/^private, /)
    const imgproxy = `/compat/imgproxy/${client.tokens.clientToken}/_/w:20/plain/hero`
    expect(jsonOf(await get(imgproxy))).to.include({ status: 403, code: 'url_unsigned' })
  })

  it('are verified with the key and salt of imgproxy', async () => {
    const signing = await start({
      env: { COMPAT: 'imgproxy', COMPAT_IMGPROXY_KEY: KEY, COMPAT_IMGPROXY_SALT: SALT },
    })
    const { sourceName } = await uploadOne(signing, { name: 'a.png', bytes: png })
    const path = `/w:20/plain/${sourceName}@webp`
    const signature = createHmac('sha256', 'secret').update(`hello${path}`).digest('base64url')
    const base = `/compat/imgproxy/${signing.tokens.clientToken}`
    expect((await exchange(signing, `${base}/${signature}${path}`)).headers['content-type']).to.equal(
      'image/webp',
    )
    const changed = await exchange(signing, `${base}/${signature}${path.replace('20', '21')}`)
    expect(jsonOf(changed)).to.include({ status: 403, code: 'url_invalid' })
    expect(
      (await exchange(signing, `/compat/cloudinary/${signing.tokens.clientToken}/image/upload/a`)).status,
    ).to.equal(404)
  })
})
