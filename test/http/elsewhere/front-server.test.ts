import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { signFolder } from '../../../src/core/signing/signed-folder.ts'
import { stoppedAtTheEnd } from '../../support/backends.ts'
import { startSendingNginx } from '../../support/peers/sending-nginx.ts'
import { deleteFile, newClient, rawPath, signed, uploadOne } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'
import { noise } from '../../support/stored/noise.ts'
import { settled } from '../../support/stored/settled.ts'

const PAGE = 'https://shop.example'
const LARGE = noise(300_000)
// Of the connection, of one request, and of the server.
const OWN = ['connection', 'keep-alive', 'date', 'server', 'x-request-id', 'x-sent-by']

describe('ACCEL_REDIRECT, with nginx as docs/how-to/nginx.md configures it', () => {
  const start = stoppedAtTheEnd(startService)
  let service: Service
  let nginx: Awaited<ReturnType<typeof startSendingNginx>>
  before(async () => {
    service = await start({
      env: { TRUST_PROXY: '1', ACCEL_REDIRECT: '/internal/', CORS_ORIGINS: PAGE },
    })
    nginx = await startSendingNginx(service)
  })
  after(() => nginx.stop())

  const newPath = async (options: { name?: string; bytes?: Buffer; path?: string } = {}) => {
    const { name = 'a.bin', bytes = LARGE, path } = options
    const { src } = await uploadOne(service, { name, bytes }, path === undefined ? {} : { path })
    return new URL(src).pathname
  }
  const get = (path: string, headers = {}) => exchange(nginx, path, { headers })
  /** The same request past nginx, with the header that marks a proxy. */
  const getOf = (path: string, headers = {}) =>
    exchange(service, path, { headers: { ...headers, 'X-Forwarded-For': '127.0.0.1' } })
  const senderOf = ({ headers }: Answer) => headers['x-sent-by'] ?? 'sluice'
  const comparable = ({ status, headers, body }: Answer) => ({
    status,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.includes(name))),
    body: body.toString('base64'),
  })

  it('lets nginx send a large file with the same response, the first time and from memory', async () => {
    for (const path of [await newPath(), await newPath({ name: 'x.bin', path: "ü b/100% '&=+" })]) {
      const expected = comparable(await getOf(`${path}?download=%C3%A4.bin`))
      for (const _ of ['found', 'hot', 'hot again']) {
        const answer = await get(`${path}?download=%C3%A4.bin`)
        expect(senderOf(answer)).to.equal('nginx')
        expect(comparable(answer)).to.deep.equal(expected)
      }
    }
  })

  it('lets a page of a listed origin read a large file that a signed cookie opens', async () => {
    const client = await newClient(service)
    const { urlKey } = await service.app.clients.addUrlKey(client.id)
    await service.app.clients.setRules(client.id, { privateFolders: ['galleries'] })
    const { src } = await uploadOne(client, { name: 'a.bin', bytes: LARGE }, { path: 'galleries' })
    const { pathname } = new URL(src)
    const until = Math.floor(Date.now() / 1000) + 600
    const value = signFolder({ token: client.tokens.clientToken, folder: 'galleries', until }, urlKey)
    const headers = { Origin: PAGE, Cookie: `sluice_folder=${value}` }
    const answer = await get(pathname, headers)
    expect(senderOf(answer)).to.equal('nginx')
    expect(answer.body.equals(LARGE)).to.equal(true)
    const { 'cache-control': lifetime = '', ...permitted } = answer.headers
    expect(lifetime).to.match(/^private, /)
    expect(permitted).to.include({
      'access-control-allow-origin': PAGE,
      'access-control-allow-credentials': 'true',
      vary: 'Origin',
    })
  })

  it('lets nginx send a stored derivative, and its original at the raw URL', async () => {
    const grainy = { create: { width: 500, height: 500, channels: 3 as const, background: '#888' } }
    const bytes = await sharp({
      ...grainy,
      create: { ...grainy.create, noise: { type: 'gaussian', mean: 128, sigma: 60 } },
    })
      .png()
      .toBuffer()
    const record = await uploadOne(service, { name: 'a.png', bytes })
    const path = `${new URL(record.src).pathname}?w=300&f=auto`
    const headers = { Accept: 'image/png' }
    const rendered = await get(path, headers)
    expect(senderOf(rendered)).to.equal('sluice')
    await settled(service)
    const stored = await get(path, headers)
    expect(senderOf(stored)).to.equal('nginx')
    expect(stored.headers).to.include({ vary: 'Accept', 'content-type': 'image/png' })
    expect(comparable(stored).body).to.equal(comparable(rendered).body)
    const raw = await get(rawPath(service, record.s3PathOriginal))
    expect([senderOf(raw), raw.body.equals(bytes)]).to.deep.equal(['nginx', true])
  })

  it('has the same ranges, also with If-Range, and the same conditions', async () => {
    const etag = '<etag>'
    const date = '<date>'
    const old = new Date(0).toUTCString()
    const part = { Range: 'bytes=10-19' }
    for (const [given, status, sender] of [
      [part, 206, 'nginx'],
      [{ Range: 'bytes=-5' }, 206, 'nginx'],
      [{ ...part, 'If-Range': etag }, 206, 'nginx'],
      [{ ...part, 'If-Range': date }, 206, 'nginx'],
      [{ ...part, 'If-Range': '"other"' }, 200, 'nginx'],
      [{ ...part, 'If-Range': old }, 200, 'nginx'],
      [{ Range: 'bytes=999999-' }, 416, 'sluice'],
      [{ 'If-None-Match': etag }, 304, 'sluice'],
      [{ 'If-None-Match': '"other"' }, 200, 'nginx'],
      [{ 'If-Modified-Since': date }, 304, 'sluice'],
      [{ 'If-Modified-Since': old }, 200, 'sluice'],
      [{ 'If-Match': etag, ...part }, 206, 'sluice'],
      [{ 'If-Match': '"other"' }, 412, 'sluice'],
      [{ 'If-Unmodified-Since': date }, 200, 'sluice'],
      [{ 'If-Unmodified-Since': old }, 412, 'sluice'],
    ] as const) {
      const path = await newPath()
      const { headers } = await exchange(service, path, { method: 'HEAD' })
      const known = { '<etag>': String(headers.etag), '<date>': String(headers['last-modified']) }
      const sent = Object.entries(given).map(([name, value]) => [
        name,
        known[value as keyof typeof known] ?? value,
      ])
      // From Express, and from memory.
      for (const from of ['Express', 'memory']) {
        const answer = await get(path, Object.fromEntries(sent))
        const what = `${JSON.stringify(given)} from ${from}`
        expect([answer.status, senderOf(answer)], what).to.deep.equal([status, sender])
        const expected = await getOf(path, Object.fromEntries(sent))
        expect(answer.headers['content-range'], what).to.equal(expected.headers['content-range'])
        if (status >= 400) continue
        expect(answer.headers, what).to.include({ etag: headers.etag })
        expect(answer.body.equals(expected.body), what).to.equal(true)
      }
    }
    const path = await newPath()
    const several = await get(path, { Range: 'bytes=0-1,10-11' })
    expect([several.status, senderOf(several)]).to.deep.equal([206, 'sluice'])
    // More ranges than Sluice accepts: the complete file, and not what nginx would send.
    const many = await get(path, {
      Range: `bytes=${Array.from({ length: 9 }, (_, i) => `${i}-${i}`).join(',')}`,
    })
    expect([many.status, senderOf(many), many.body.length]).to.deep.equal([200, 'sluice', 300_000])
    const head = await exchange(nginx, path, { method: 'HEAD' })
    expect(head.headers).to.include({ 'content-length': '300000' })
  })

  it('answers a digest of the file', async () => {
    const path = await newPath()
    const wanted = { 'Want-Repr-Digest': 'sha-256=10' }
    const answer = await get(path, wanted)
    expect(senderOf(answer)).to.equal('nginx')
    expect(answer.headers['repr-digest']).to.match(/^sha-256=:.+:$/)
  })

  it('leaves small files, compressed texts and files that browsers could run to Sluice', async () => {
    const svg = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${'<rect/>'.repeat(10_000)}</svg>`)
    const text = Buffer.from('some words of a text\n'.repeat(5000))
    for (const [path, headers] of [
      [await newPath({ bytes: LARGE.subarray(0, 20_000) }), {}],
      [await newPath({ name: 'a.svg', bytes: svg }), {}],
      [await newPath({ name: 'a.txt', bytes: text }), { 'Accept-Encoding': 'gzip' }],
    ] as const)
      for (const _ of ['found', 'stored', 'hot']) {
        const answer = await get(path, headers)
        expect([answer.status, senderOf(answer)], path).to.deep.equal([200, 'sluice'])
        expect(answer.body.length).to.equal(Number(answer.headers['content-length'])).and.to.be.above(100)
      }
    const plain = await newPath({ name: 'a.txt', bytes: text })
    expect(senderOf(await get(plain))).to.equal('nginx')
  })

  it('sends the bytes to a caller past nginx, and gives nginx no file at a request for its internal path', async () => {
    const path = await newPath()
    for (const headers of [{}, { 'X-Sendfile-Type': 'X-Sendfile' }, {}]) {
      const answer = await exchange(service, path, { headers })
      expect(answer.body.equals(LARGE)).to.equal(true)
      expect(answer.headers).not.to.have.property('x-accel-redirect')
    }
    const marked = await exchange(service, path, { headers: { 'X-Sendfile-Type': 'X-Accel-Redirect' } })
    expect(marked.headers['x-accel-redirect']).to.match(/^\/internal\/first\//)
    expect((await get(String(marked.headers['x-accel-redirect']))).status).to.equal(404)
  })

  it('keeps signed URLs private, and refuses the others', async () => {
    const client = await newClient(service)
    const { urlKey } = await service.app.clients.addUrlKey(client.id)
    await service.app.clients.setRules(client.id, { privateFolders: ['secret'] })
    const { src } = await uploadOne(client, { name: 'a.bin', bytes: LARGE }, { path: 'secret' })
    const path = new URL(src).pathname
    for (const _ of ['found', 'hot']) {
      const answer = await get(signed(path, urlKey))
      expect([answer.status, senderOf(answer)]).to.deep.equal([200, 'nginx'])
      expect(answer.headers['cache-control']).to.equal('private, max-age=604800')
      expect((await get(path)).status).to.equal(403)
    }
  })

  it('responds with 404 after a delete, and when another program has removed the file', async () => {
    const record = await uploadOne(service, { name: 'a.bin', bytes: LARGE })
    const path = new URL(record.src).pathname
    expect(senderOf(await get(path))).to.equal('nginx')
    await deleteFile(service, record.s3PathOriginal)
    expect(jsonOf(await get(path)).code).to.equal('file_not_found')

    const other = await uploadOne(service, { name: 'a.bin', bytes: LARGE })
    const otherPath = new URL(other.src).pathname
    expect(senderOf(await get(otherPath))).to.equal('nginx')
    await rm(join(service.dataDir, 'bucket', 'first', other.s3PathOriginal))
    const missing = await get(otherPath)
    expect([missing.status, jsonOf(missing).code]).to.deep.equal([404, 'file_not_found'])
  })

  it('renders a derivative again that was evicted without the knowledge of this process', async () => {
    const bytes = await sharp(randomBytes(400 * 400 * 3), { raw: { width: 400, height: 400, channels: 3 } })
      .png()
      .toBuffer()
    const record = await uploadOne(service, { name: 'a.png', bytes })
    const path = `${new URL(record.src).pathname}?w=200`
    const first = await get(path)
    await settled(service)
    for (const _ of ['found', 'hot']) expect(senderOf(await get(path))).to.equal('nginx')
    await rm(join(service.dataDir, 'bucket', 'first', `${record.s3PathOriginal}_w=200`))
    const again = await get(path)
    expect([again.status, senderOf(again)]).to.deep.equal([200, 'sluice'])
    expect(again.body.equals(first.body)).to.equal(true)
  })

  it('names the path on the disk with X-Sendfile, for Apache and lighttpd', async () => {
    const other = await start({ env: { ACCEL_REDIRECT: 'X-Sendfile' } })
    const { src, s3PathOriginal } = await uploadOne(other, { name: 'a.bin', bytes: LARGE }, { path: 'a-b' })
    for (const _ of ['found', 'hot']) {
      const { headers, body } = await exchange(other, src, { headers: { 'X-Sendfile-Type': 'X-Sendfile' } })
      expect(headers['x-sendfile']).to.equal(join(other.dataDir, 'bucket', 'first', s3PathOriginal))
      expect([body.length, headers['content-length']]).to.deep.equal([0, '0'])
    }
    // Some of these servers decode a path, and others do not.
    const spaced = await uploadOne(other, { name: 'a.bin', bytes: LARGE }, { path: 'a b' })
    const sent = await exchange(other, spaced.src, { headers: { 'X-Sendfile-Type': 'X-Sendfile' } })
    expect(sent.body.equals(LARGE)).to.equal(true)
  })

  it('with FULL_CONTENT_RANGE=always leaves complete files to Sluice, and not ranges', async () => {
    const other = await start({ env: { ACCEL_REDIRECT: '/internal/', FULL_CONTENT_RANGE: 'always' } })
    const { src } = await uploadOne(other, { name: 'a.bin', bytes: LARGE })
    const permission = { 'X-Sendfile-Type': 'X-Accel-Redirect' }
    const [whole, part] = [
      await exchange(other, src, { headers: permission }),
      await exchange(other, src, { headers: { ...permission, Range: 'bytes=0-1' } }),
    ]
    expect(whole.headers['content-range']).to.equal('bytes 0 - 300000')
    expect(part.headers).to.have.property('x-accel-redirect')
  })
})
