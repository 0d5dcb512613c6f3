import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { sampleOf } from '../../support/metrics.ts'
import { deleteFile, newClient, rawPath, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { setAlias } from '../../support/stored/aliases.ts'
import { settled } from '../../support/stored/settled.ts'

const METRICS_TOKEN = 'metrics-token-of-the-tests'

/** Names and values as they came, without those that differ from request to request. */
function headersOf({ rawHeaders }: Answer): string[] {
  const lines: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (!/^(x-request-id|date)$/i.test(rawHeaders[i] ?? ''))
      lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  return lines
}

onOneOrTwoBackends('the hot path', (start) => {
  let service: Service
  let record: WireRecord
  let path: string
  before(async () => {
    service = await start({ env: { METRICS_TOKEN, LOG_LEVEL: 'info' } })
  })
  beforeEach(async () => {
    record = await uploadOne(service, { name: 'ein Bild.png', bytes: await picture() })
    path = new URL(record.src).pathname
  })

  const get = (target: string, headers: Record<string, string> = {}, method = 'GET') =>
    exchange(service, target, { headers, method })

  async function hits(): Promise<number> {
    const { body } = await get('/metrics', { Authorization: `Bearer ${METRICS_TOKEN}` })
    return sampleOf(body.toString(), 'sluice_hot_responses_total')
  }

  /** Requests until the answer comes from the cache. */
  async function warm(target: string, headers: Record<string, string> = {}): Promise<void> {
    await get(target, headers)
    await settled(service)
    await eventually(async () => {
      const before = await hits()
      expect((await get(target, headers)).status).to.equal(200)
      expect(await hits()).to.equal(before + 1)
    })
  }

  /** As {@link warm}, with a request for a range. */
  async function warm206(target: string): Promise<void> {
    await get(target, { Range: 'bytes=0-9' })
    await eventually(async () => {
      const before = await hits()
      expect((await get(target, { Range: 'bytes=0-9' })).status).to.equal(206)
      expect(await hits()).to.equal(before + 1)
    })
  }

  it('answers as the long path does', async () => {
    const etag = `"${record.s3PathOriginal}_w=30"`
    const other = `"${record.s3PathOriginal}"`
    const now = new Date(Date.now() + 60_000).toUTCString()
    const target = `${path}?w=30`
    await warm(target)
    // The long path answers requests with a length: those of 0 have no body either.
    const long = { 'Content-Length': '0' }
    for (const [method, headers] of [
      ['GET', {}],
      ['HEAD', {}],
      ['GET', { 'If-None-Match': etag }],
      ['HEAD', { 'If-None-Match': `W/${etag}` }],
      ['GET', { 'If-None-Match': other }],
      ['GET', { 'If-Modified-Since': now }],
      ['GET', { 'If-Modified-Since': new Date(0).toUTCString() }],
      ['GET', { 'If-Match': etag }],
      ['GET', { 'If-Unmodified-Since': now }],
      ['GET', { Range: 'bytes=0-9' }],
      ['GET', { Range: 'bytes=-7' }],
      ['GET', { Range: 'bytes=5-' }],
      ['GET', { Range: 'lines=1-2' }],
      ['HEAD', { Range: 'bytes=0-9' }],
      ['GET', { Range: 'bytes=0-9', 'If-Range': etag }],
      ['GET', { Range: 'bytes=0-9', 'If-Range': other }],
      ['GET', { Range: 'bytes=0-9', 'If-None-Match': etag }],
      ['GET', { Via: '1.1 proxy' }],
      ['GET', { 'Want-Digest': 'sha-256' }],
      ['GET', { Origin: 'https://example.com', Cookie: 'a=b' }],
    ] as const satisfies ReadonlyArray<readonly [string, Record<string, string>]>) {
      const about = `${method} ${JSON.stringify(headers)}`
      const expected = await get(target, { ...headers, ...long }, method)
      const before = await hits()
      const received = await get(target, headers, method)
      expect(await hits(), about).to.equal(before + 1)
      expect(received.status, about).to.equal(expected.status)
      expect(headersOf(received), about).to.deep.equal(headersOf(expected))
      expect(received.body.equals(expected.body), about).to.equal(true)
      expect(received.headers['x-request-id'], about).to.match(/^[0-9a-f-]{36}$/)
    }
  })

  it('answers for a large file as the long path does, and reads it from the bucket each time', async () => {
    const bytes = Buffer.alloc(1_000_000, 'abcdefghij')
    const large = await uploadOne(service, { name: 'a.bin', bytes })
    const target = new URL(large.src).pathname
    // A player begins with a range.
    await warm206(target)
    const long = { 'Content-Length': '0' }
    for (const [method, headers] of [
      ['GET', {}],
      ['HEAD', {}],
      ['GET', { Range: 'bytes=10-19' }],
      ['GET', { Range: 'bytes=100000-899999' }],
      ['GET', { 'If-None-Match': `"${large.s3PathOriginal}"` }],
    ] as const satisfies ReadonlyArray<readonly [string, Record<string, string>]>) {
      const about = `${method} ${JSON.stringify(headers)}`
      const expected = await get(target, { ...headers, ...long }, method)
      const before = await hits()
      const received = await get(target, headers, method)
      expect(await hits(), about).to.equal(before + 1)
      expect(received.status, about).to.equal(expected.status)
      expect(headersOf(received), about).to.deep.equal(headersOf(expected))
      expect(received.body.equals(expected.body), about).to.equal(true)
    }
    const before = await hits()
    await service.storage.buckets.of({ id: 'first', token: '' }).delete([large.s3PathOriginal as never])
    expect((await get(target)).status, 'the bytes are missing').to.equal(404)
    expect(await hits()).to.equal(before)
  })

  it('leaves everything unusual to the long path', async () => {
    await warm(path)
    for (const [target, headers, status, method = 'GET'] of [
      [path, { Range: 'bytes=0-1,4-5' }, 206],
      [path, { Range: 'bytes=99999999-' }, 416],
      [path, { 'If-Match': '"other"' }, 412],
      [path, { 'If-Unmodified-Since': new Date(0).toUTCString() }, 412],
      [path, { Expect: 'something' }, 417],
      [path, {}, 204, 'OPTIONS'],
      [path, {}, 405, 'POST'],
      [`${path}?w=abc`, {}, 400],
      [path, { Authorization: 'Bearer something' }, 200],
    ] as const satisfies ReadonlyArray<readonly [string, Record<string, string>, number, string?]>) {
      const before = await hits()
      expect((await get(target, headers, method)).status, JSON.stringify(headers)).to.equal(status)
      expect(await hits(), JSON.stringify(headers)).to.equal(before)
    }
  })

  it('serves originals, raw objects, downloads, and formats by Accept', async () => {
    await warm(path)
    await warm(rawPath(service, record.s3PathOriginal))
    await warm(`${path}?download=a.png`)
    const auto = `${path}?w=20&f=auto`
    for (const [accept, type] of [
      ['image/webp', 'image/webp'],
      ['image/png', 'image/png'],
      ['image/webp', 'image/webp'],
    ] as const) {
      await warm(auto, { Accept: accept })
      const { headers } = await get(auto, { Accept: accept })
      expect(headers['content-type'], accept).to.equal(type)
      expect(headers.vary, accept).to.equal('Accept')
    }
  })

  it('serves no URL that may deliver another file later: an alias', async () => {
    const { src } = await setAlias(service, 'logo', record.s3PathOriginal)
    const target = new URL(src).pathname
    const before = await hits()
    for (let i = 0; i < 3; i += 1) expect((await get(target)).status).to.equal(200)
    expect(await hits()).to.equal(before)
    const other = await uploadOne(service, { name: 'b.png', bytes: await picture({ width: 10, height: 10 }) })
    await setAlias(service, 'logo', other.s3PathOriginal)
    expect((await get(target)).headers.etag).to.equal(`"${other.s3PathOriginal}"`)
  })

  it('writes the same log line, metrics and usage', async () => {
    const target = `${path}?w=30`
    await warm(target)
    const lineOf = async (headers: Record<string, string>) => {
      const { headers: received } = await get(target, headers)
      let line: Record<string, unknown> | undefined
      await eventually(() => {
        const id = received['x-request-id']
        line = service.log.lines.find(({ fields }) => fields.requestId === id)?.fields
        expect(line).to.not.equal(undefined)
      })
      const { requestId: _, ms: __, receivedBytes: ___, ...rest } = line ?? {}
      return rest
    }
    const usage = async () => {
      const answer = await get('/v1/usage', { Authorization: service.tokens.secretClientToken })
      const days = JSON.parse(answer.body.toString()).days as Array<Record<string, number>>
      return days.at(-1) ?? {}
    }
    const first = await usage()
    const long = await lineOf({ 'Content-Length': '0' })
    const second = await usage()
    const before = await hits()
    const hot = await lineOf({})
    expect(await hits()).to.equal(before + 1)
    const third = await usage()
    expect(hot).to.deep.equal(long)
    for (const name of ['deliveries', 'deliveredBytes', 'cacheHits', 'errors'])
      expect(Number(third[name]) - Number(second[name]), name).to.equal(
        Number(second[name]) - Number(first[name]),
      )
    const { body } = await get('/metrics', { Authorization: `Bearer ${METRICS_TOKEN}` })
    const lookups = sampleOf(body.toString(), 'sluice_derivative_lookups_total', { found: 'hit' })
    await get(target)
    const after = (await get('/metrics', { Authorization: `Bearer ${METRICS_TOKEN}` })).body.toString()
    expect(sampleOf(after, 'sluice_derivative_lookups_total', { found: 'hit' })).to.equal(lookups + 1)
  })

  it('ends with each change of the file or of its client', async () => {
    const target = `${path}?w=30`
    const secret = { Authorization: service.tokens.secretClientToken }
    await warm(target)
    // A focal point changes the plan of a crop.
    const cropped = `${path}?w=30&h=30`
    await warm(cropped)
    const before = (await get(cropped)).headers.etag
    const changed = await exchange(service, `/v1/files/${record.s3PathOriginal}`, {
      method: 'PATCH',
      headers: { ...secret, 'Content-Type': 'application/merge-patch+json' },
      body: '{"focalPoint": {"x": 0, "y": 0}}',
    })
    expect(changed.status, changed.body.toString()).to.equal(200)
    expect((await get(cropped)).headers.etag).to.not.equal(before)
    await warm(target)
    await exchange(service, `/v1/files/${record.s3PathOriginal}/derivatives`, {
      method: 'DELETE',
      headers: secret,
    })
    const count = await hits()
    expect((await get(target)).status).to.equal(200)
    expect(await hits(), 'rendered again').to.equal(count)
    await warm(target)
    await deleteFile(service, record.s3PathOriginal)
    expect((await get(target)).status).to.equal(404)
    expect((await get(path)).status).to.equal(404)
  })

  it('ends with a change of the client: its rules, its removal', async () => {
    const client = await newClient(service)
    const own = await uploadOne(client, { name: 'a.png', bytes: await picture() })
    const target = new URL(own.src).pathname
    await warm(target)
    await service.app.clients.setRules(client.id, { presetsOnly: true })
    const count = await hits()
    expect((await get(target)).status).to.equal(200)
    expect(await hits()).to.equal(count)
    await warm(target)
    await service.app.clients.addUrlKey(client.id)
    await service.app.clients.setRules(client.id, { signedUrls: true })
    expect((await get(target)).status).to.equal(403)
  })

  itLong('delivers a signed URL until it expires, with the time that is left', async () => {
    const client = await newClient(service)
    const { version, key } = (await service.app.clients.addUrlKey(client.id)).urlKey
    await service.app.clients.setRules(client.id, { signedUrls: true })
    const own = await uploadOne(client, { name: 'a.png', bytes: await picture() })
    const until = Math.floor(Date.now() / 1000) + 3
    const unsigned = `${new URL(own.src).pathname}?w=30&exp=${until}`
    const target = `${unsigned}&s=${version}.${createHmac('sha256', key).update(unsigned).digest('base64url')}`
    await warm(target)
    const { headers } = await get(target)
    expect(headers['cache-control']).to.match(/^private, max-age=[0-3]$/)
    await eventually(async () => expect((await get(target)).status).to.equal(403))
    expect(Date.now() / 1000).to.be.at.least(until)
  })
})
