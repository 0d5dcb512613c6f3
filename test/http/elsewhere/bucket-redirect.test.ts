import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import sharp from 'sharp'
import { signFolder } from '../../../src/core/signing/signed-folder.ts'
import { S3_EMBEDDED, stoppedAtTheEnd } from '../../support/backends.ts'
import { deleteFile, newClient, rawPath, signed, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'
import { noise } from '../../support/stored/noise.ts'
import { settled } from '../../support/stored/settled.ts'

const LARGE = noise(300_000)
const MIN_BYTES = 100_000
const DAY_MS = 86_400_000

describe('DELIVERY_REDIRECT_BYTES', () => {
  const start = stoppedAtTheEnd((options) => startService({ backend: S3_EMBEDDED, ...options }))
  let service: Service
  before(async () => {
    service = await start({ env: { DELIVERY_REDIRECT_BYTES: String(MIN_BYTES) } })
  })

  const newFile = async (bytes = LARGE, name = 'a.bin') => uploadOne(service, { name, bytes })
  const get = (target: string, headers = {}) => exchange(service, target, { headers })
  const follow = (location: string | undefined, headers = {}) =>
    exchange({ url: new URL(String(location)).origin }, String(location), { headers })
  const maxAgeOf = (header: string | undefined) => Number(/max-age=(\d+)/.exec(String(header))?.[1])
  /** How long a presigned URL works from now on. */
  const leftSeconds = (location: string | undefined) => {
    const query = new URL(String(location)).searchParams
    const [, y, mo, d, h, mi, s] =
      /^(\d{4})(..)(..)T(..)(..)(..)Z$/.exec(query.get('X-Amz-Date') ?? '')?.map(Number) ?? []
    const signedAt = Date.UTC(y ?? 0, (mo ?? 0) - 1, d, h, mi, s)
    return (signedAt - Date.now()) / 1000 + Number(query.get('X-Amz-Expires'))
  }

  it('redirects to a URL of the bucket with the headers of the file', async () => {
    const { src, s3PathOriginal } = await newFile()
    const direct = `${service.url}${rawPath(service, s3PathOriginal)}`
    for (const target of [src, src, `${src}?download=%C3%A4%20b.bin`, direct]) {
      const { status, headers, body } = await get(target, { Origin: 'https://page.example' })
      expect([status, body.length], target).to.deep.equal([302, 0])
      expect(headers).to.include({
        'cache-control': 'public, max-age=600',
        'access-control-allow-origin': '*',
      })
      for (const name of ['etag', 'content-type', 'accept-ranges', 'last-modified', 'content-disposition'])
        expect(headers, target).not.to.have.property(name)
      // No cache has the redirect for longer than its URL works.
      expect(leftSeconds(headers.location)).to.be.within(2900, 3600)
      const file = await follow(headers.location)
      expect(file.status, file.body.subarray(0, 500).toString()).to.equal(200)
      expect(file.body.equals(LARGE)).to.equal(true)
      expect(file.headers).to.include({
        'content-type': 'application/octet-stream',
        'cache-control': 'public, max-age=604800',
      })
      expect(file.headers['content-disposition']).to.equal(
        target.includes('download')
          ? 'attachment; filename="a b.bin"; filename*=UTF-8\'\'%C3%A4%20b.bin'
          : undefined,
      )
    }
    const again = [await get(src), await get(src)].map(({ headers }) => headers.location)
    expect(again[0], 'browsers find the file in their caches').to.equal(again[1])
  })

  it('redirects to a derivative when it is stored', async () => {
    const bytes = await sharp(randomBytes(500 * 500 * 3), { raw: { width: 500, height: 500, channels: 3 } })
      .png()
      .toBuffer()
    const { src } = await newFile(bytes, 'a.png')
    const target = `${src}?w=300&f=auto`
    const rendered = await get(target)
    expect(rendered.status).to.equal(200)
    await settled(service)
    const { status, headers } = await get(target)
    expect([status, headers.vary]).to.deep.equal([302, 'Accept'])
    const file = await follow(headers.location)
    expect(file.body.equals(rendered.body)).to.equal(true)
    expect(file.headers['content-type']).to.equal('image/png')
  })

  it('redirects a range to a bucket that sends it, and resumes by the ETag of each of them', async () => {
    const { src } = await newFile()
    const head = await exchange(service, src, { method: 'HEAD' })
    expect(head.status).to.equal(200)
    expect(head.headers).to.include({ 'content-length': '300000' }).and.to.have.property('etag')
    const etag = String(head.headers.etag)
    const Range = 'bytes=10-19'
    const first = await get(src, { Range })
    expect(first.status).to.equal(302)
    const part = await follow(first.headers.location, { Range })
    expect([part.status, part.body.equals(LARGE.subarray(10, 20))]).to.deep.equal([206, true])

    const ofSluice = await get(src, { Range, 'If-Range': etag })
    expect([ofSluice.status, ofSluice.body.equals(LARGE.subarray(10, 20))]).to.deep.equal([206, true])
    const resumed = { Range, 'If-Range': String(part.headers.etag) }
    const ofBucket = await get(src, resumed)
    expect(ofBucket.status).to.equal(302)
    const rest = await follow(ofBucket.headers.location, resumed)
    expect([rest.status, rest.body.equals(LARGE.subarray(10, 20))]).to.deep.equal([206, true])
  })

  it('answers itself what the bucket would answer otherwise', async () => {
    const { src } = await newFile()
    const { headers } = await exchange(service, src, { method: 'HEAD' })
    const etag = String(headers.etag)
    for (const [given, status] of [
      [{ 'If-None-Match': etag }, 304],
      [{ 'If-None-Match': '"other"' }, 302],
      [{ 'If-Match': etag }, 200],
      [{ 'If-Match': '"other"' }, 412],
      [{ 'If-Modified-Since': headers['last-modified'] }, 304],
      [{ 'If-Modified-Since': new Date(Date.now() - DAY_MS).toUTCString() }, 200],
      [{ 'If-Unmodified-Since': headers['last-modified'] }, 200],
      [{ Range: 'bytes=0-1,5-6' }, 206],
      [{ Range: 'bytes=999999-' }, 416],
      [{ 'Want-Repr-Digest': 'sha-256=10' }, 200],
      // Its response was not kept in memory.
      [{}, 302],
    ] as const)
      expect((await get(src, given)).status, JSON.stringify(given)).to.equal(status)
  })

  it('sends small files, compressed texts and files that browsers could run', async () => {
    const svg = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${'<rect/>'.repeat(20_000)}</svg>`)
    const text = Buffer.from('some words of a text\n'.repeat(10_000))
    for (const [name, bytes, headers] of [
      ['a.bin', LARGE.subarray(0, MIN_BYTES - 1), {}],
      ['a.svg', svg, {}],
      ['a.txt', text, { 'Accept-Encoding': 'br' }],
    ] as const) {
      const { src } = await newFile(bytes, name)
      for (const _ of ['found', 'hot']) expect((await get(src, headers)).status, name).to.equal(200)
    }
    const { src } = await newFile(text, 'a.txt')
    const { status, headers } = await get(src)
    expect([status, headers.vary]).to.deep.equal([302, 'Accept-Encoding'])
    expect((await newFile(LARGE.subarray(0, MIN_BYTES))).size).to.equal(MIN_BYTES)
  })

  it('has a URL that works no longer than the signature of the request', async () => {
    const client = await newClient(service)
    const { urlKey } = await service.app.clients.addUrlKey(client.id)
    await service.app.clients.setRules(client.id, { privateFolders: ['secret'] })
    const { src } = await uploadOne(client, { name: 'a.bin', bytes: LARGE }, { path: 'secret' })
    const path = new URL(src).pathname
    expect((await get(path)).status).to.equal(403)
    const until = Math.floor(Date.now() / 1000) + 300
    const { status, headers } = await get(signed(`${path}?exp=${until}`, urlKey))
    expect(status).to.equal(302)
    expect(headers['cache-control']).to.match(/^private, max-age=2[34]\d$/)
    expect(leftSeconds(headers.location)).to.be.within(280, 300)
    const file = await follow(headers.location)
    expect(file.body.equals(LARGE)).to.equal(true)
    expect(file.headers['cache-control']).to.match(/^private, max-age=\d+$/)
    const soon = Math.floor(Date.now() / 1000) + 3
    expect((await get(signed(`${path}?exp=${soon}`, urlKey))).status).to.equal(200)
    const forever = await get(signed(path, urlKey))
    expect(forever.headers['cache-control']).to.equal('private, max-age=600')
    const opened = signFolder({ token: client.tokens.clientToken, folder: 'secret', until }, urlKey)
    const byCookie = await get(path, { Cookie: `sluice_folder=${opened}` })
    expect([byCookie.status, leftSeconds(byCookie.headers.location) <= 300]).to.deep.equal([302, true])
    expect(byCookie.headers['cache-control']).to.match(/^private, max-age=2[34]\d$/)
  })

  it('gives out URLs that end with the file', async () => {
    const { src, s3PathOriginal } = await newFile()
    const { headers } = await get(src)
    await deleteFile(service, s3PathOriginal)
    expect((await follow(headers.location)).status).to.equal(404)
    expect(jsonOf(await get(src)).code).to.equal('file_not_found')
  })

  it('redirects to S3_PUBLIC_URL, but not for downloads and signed URLs', async () => {
    const env = {
      DELIVERY_REDIRECT_BYTES: '1',
      S3_PUBLIC_URL: 'https://cdn.example/x',
      CORS_ORIGINS: 'https://page.example',
    }
    const other = await start({ env })
    const { src, originalSrc } = await uploadOne(other, { name: 'a.bin', bytes: LARGE }, { path: 'ü' })
    const { status, headers } = await exchange(other, src)
    expect([status, headers.location]).to.deep.equal([302, originalSrc])
    expect(headers['cache-control']).to.equal('public, max-age=600')
    const saved = await exchange(other, `${src}?download`)
    expect((await follow(saved.headers.location)).headers['content-disposition']).to.match(/^attachment; /)
    const { urlKey } = await other.app.clients.addUrlKey('first')
    await other.app.clients.setRules('first', { privateFolders: ['ü'] })
    const until = Math.floor(Date.now() / 1000) + 300
    const value = signFolder({ token: other.tokens.clientToken, folder: 'ü', until }, urlKey)
    const Cookie = `sluice_folder=${value}`
    const opened = await exchange(other, new URL(src).pathname, { headers: { Cookie } })
    expect([opened.status, opened.headers.location !== originalSrc]).to.deep.equal([302, true])
    // The CORS rules of a bucket may refuse cookies.
    const Origin = 'https://page.example'
    const read = await exchange(other, new URL(src).pathname, { headers: { Cookie, Origin } })
    expect([read.status, read.body.equals(LARGE)]).to.deep.equal([200, true])
    const own = await exchange(other, signed(new URL(src).pathname, urlKey))
    expect((await follow(own.headers.location)).body.equals(LARGE)).to.equal(true)
    expect(maxAgeOf(own.headers['cache-control'])).to.equal(600)
  })
})
