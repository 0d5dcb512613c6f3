import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import type { WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf, openSocket } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { noise } from '../../support/stored/noise.ts'

onOneBackend('PUT /v1/upload/{name}', (start) => {
  let service: Service
  let png: Buffer
  before(async () => {
    png = await picture()
    service = await start({ env: { UPLOAD_MAX_BYTES: '20000000', UPLOAD_MIN_BYTES_PER_SECOND: '1000' } })
  })

  const put = (target: string, body: Uint8Array | Readable | string, headers: Record<string, string> = {}) =>
    exchange(service, target, {
      method: 'PUT',
      headers: { Authorization: service.tokens.secretClientToken, ...headers },
      body,
    })

  it('stores the body under its name, in its folder, whatever type it claims', async () => {
    const answer = await put('/v1/upload/my%20photo%3F.jpg?path=a/b', png, { 'Content-Type': 'text/html' })
    expect(answer.status).to.equal(200)
    const [record] = jsonOf(answer) as unknown as WireRecord[]
    expect(record).to.include({
      originalName: 'my photo?.jpg',
      mimeType: 'image',
      format: 'png',
      options: record?.options,
    })
    expect(record?.s3PathOriginal).to.match(/^a\/b\/image\/png\//)
    expect((await exchange(service, `${record?.src}?w=20`)).status).to.equal(200)
  })

  it('stores a chunked body', async () => {
    const bytes = noise(12_000_000)
    const chunks = Readable.from(
      (function* () {
        for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000)
      })(),
    )
    const [record] = jsonOf(await put('/v1/upload/a.bin', chunks)) as unknown as WireRecord[]
    const { body } = await exchange(service, String(record?.src))
    const digest = (data: Uint8Array) => createHash('sha256').update(data).digest('hex')
    expect(digest(body)).to.equal(digest(bytes))
  })

  it('stores nothing of a body that is too large, compressed, partial, truncated or too slow', async () => {
    const before = await service.objects()
    for (const [what, status, code, body, headers] of [
      ['too large', 413, 'too_large', Buffer.alloc(20_000_001, 1), {}],
      ['compressed', 415, 'unsupported_media_type', gzipSync(png), { 'Content-Encoding': 'gzip' }],
      ['a part', 400, 'bad_request', png, { 'Content-Range': `bytes 0-${png.length - 1}/9999` }],
    ] as const) {
      const answer = await put('/v1/upload/a', body, headers)
      expect(answer.status, what).to.equal(status)
      expect(jsonOf(answer).code, what).to.equal(code)
    }
    const head = [
      'PUT /v1/upload/a HTTP/1.1',
      'Host: x',
      `Authorization: ${service.tokens.secretClientToken}`,
      'Content-Length: 100000',
      '',
      'some of it',
    ].join('\r\n')
    const cut = await openSocket(service)
    cut.write(head)
    setTimeout(() => cut.destroy(), 300)
    const slow = await openSocket(service)
    slow.write(head)
    let answer = ''
    slow.on('data', (chunk) => {
      answer += chunk
    })
    await eventually(() => expect(answer).to.match(/^HTTP\/1.1 408 .*"code":"slow_body"/s))
    slow.destroy()
    await eventually(async () => expect(await service.objects()).to.deep.equal(before))
  })

  it('requires the secret and a name of one segment, and refuses other query parameters', async () => {
    expect((await put('/v1/upload/a', png, { Authorization: 'wrong' })).status).to.equal(401)
    expect((await put('/v1/upload/a?w=3', png)).status).to.equal(400)
    expect((await put('/v1/upload/a?path=..', png)).status).to.equal(400)
    const nested = await put('/v1/upload/a/b', png)
    expect([nested.status, nested.headers.allow]).to.deep.equal([405, 'DELETE'])
    const other = await exchange(service, '/v1/upload/a', { method: 'PATCH' })
    expect([other.status, other.headers.allow]).to.deep.equal([405, 'PUT, DELETE'])
  })
})
