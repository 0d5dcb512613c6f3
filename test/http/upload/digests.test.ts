import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import type { WireRecord } from '../../support/requests/client.ts'
import { type Call, exchange, jsonOf } from '../../support/requests/exchange.ts'
import { BOUNDARY, multipart, postForm } from '../../support/requests/multipart.ts'
import { recordIn, TUS } from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'

const base64 = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest('base64')
const digest = (name: 'sha-256' | 'sha-512', bytes: Uint8Array) =>
  `${name}=:${base64(name.replace('-', ''), bytes)}:`

onOneBackend('digests', (start) => {
  let service: Service
  let png: Buffer
  const other = Buffer.from('other bytes')
  before(async () => {
    png = await picture()
    service = await start()
  })

  const send = (target: string, { headers, ...call }: Call) =>
    exchange(service, target, {
      ...call,
      headers: { Authorization: service.tokens.secretClientToken, ...headers },
    })
  const put = (headers: Record<string, string>) =>
    send('/v1/upload/a.png', { method: 'PUT', headers, body: png })
  const formWith = (line: string, bytes: Uint8Array) =>
    Buffer.concat([
      Buffer.from(
        `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n${line}\r\n\r\n`,
      ),
      bytes,
      Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
    ])

  const headersOf = (bytes: Uint8Array): ReadonlyArray<Record<string, string>> => [
    { 'Content-MD5': base64('md5', bytes) },
    { 'Content-Digest': digest('sha-256', bytes) },
    { 'Repr-Digest': digest('sha-512', bytes) },
    { 'Content-Digest': `md5=:AAAA:, ${digest('sha-512', bytes)}, ${digest('sha-256', bytes)}` },
  ]

  it('of a body that is stored must be its digest', async () => {
    for (const headers of headersOf(png))
      expect((await put(headers)).status, JSON.stringify(headers)).to.equal(200)
    const before = await service.objects()
    for (const headers of headersOf(other)) {
      const answer = await put(headers)
      expect(answer.status).to.equal(400)
      expect(jsonOf(answer)).to.include({ code: 'digest_mismatch', param: Object.keys(headers)[0] })
    }
    expect(await service.objects()).to.deep.equal(before)
  })

  it('of a form and of its parts must be theirs', async () => {
    const form = formWith(`Content-Digest: ${digest('sha-256', png)}`, png)
    for (const headers of headersOf(form))
      expect((await postForm(service, form, { headers })).status).to.equal(200)
    const before = await service.objects()
    for (const headers of headersOf(png))
      expect(jsonOf(await postForm(service, form, { headers }))).to.include({ code: 'digest_mismatch' })
    for (const line of [
      `Content-Digest: ${digest('sha-512', other)}`,
      `content-md5: ${base64('md5', other)}`,
    ]) {
      const answer = await postForm(service, formWith(line, png))
      expect(jsonOf(answer)).to.include({ code: 'digest_mismatch' })
    }
    expect(await service.objects()).to.deep.equal(before)
  })

  it('of a JSON body must be its digest', async () => {
    const body = JSON.stringify({ keys: [] })
    const headers = { 'Content-Type': 'application/json', 'Content-Digest': digest('sha-256', other) }
    const answer = await send('/v1/files/delete', { method: 'POST', headers, body })
    expect(jsonOf(answer)).to.include({ code: 'digest_mismatch' })
  })

  it('that cannot be read are refused, and those of other algorithms are ignored', async () => {
    for (const headers of [
      { 'Content-MD5': 'AAAA' },
      { 'Content-MD5': base64('sha1', png) },
      { 'Content-Digest': `sha-256=${base64('sha256', png)}` },
      { 'Content-Digest': 'sha-256=:AAAA:' },
      { 'Repr-Digest': 'sha-512' },
      { 'Repr-Digest': ',' },
    ]) {
      const answer = await put(headers)
      expect(jsonOf(answer), JSON.stringify(headers)).to.include({
        code: 'bad_parameter',
        param: Object.keys(headers)[0],
      })
    }
    expect((await put({ 'Content-Digest': 'unixsum=:AAAA:, crc32c=:AAAAAA==:' })).status).to.equal(200)
  })

  it('of a resumable upload are those of each body, and of the whole file', async () => {
    const create = async (whole: Uint8Array) => {
      const headers = { ...TUS, 'Upload-Length': png.length, 'Repr-Digest': digest('sha-256', whole) }
      const { headers: created } = await send('/v1/tus', { method: 'POST', headers })
      return new URL(String(created.location)).pathname
    }
    const append = (address: string, stated: Uint8Array) =>
      send(address, {
        method: 'PATCH',
        headers: {
          ...TUS,
          'Upload-Offset': 0,
          'Content-Type': 'application/offset+octet-stream',
          'Content-Length': png.length,
          'Content-Digest': digest('sha-256', stated),
        },
        body: png,
      })
    const good = await create(png)
    const damaged = await append(good, other)
    expect(damaged.status).to.equal(400)
    expect(jsonOf(damaged)).to.include({ code: 'digest_mismatch', param: 'Content-Digest' })
    const stored = await append(good, png)
    expect(stored.status).to.equal(204)
    expect(recordIn(stored).size).to.equal(png.length)
    const wrong = await append(await create(other), png)
    expect(jsonOf(wrong)).to.include({ code: 'digest_mismatch', param: 'Repr-Digest' })
  })

  it('are sent with an original on request, also of one in memory', async () => {
    const [record] = jsonOf(
      await postForm(service, multipart([{ disposition: 'name="file"; filename="a.png"', bytes: png }])),
    ) as unknown as WireRecord[]
    const src = String(record?.src)
    const reprDigest = async (target: string, wanted?: string) =>
      (
        await exchange(service, target, {
          headers: wanted === undefined ? {} : { 'Want-Repr-Digest': wanted },
        })
      ).headers['repr-digest']
    for (const target of [src, src, String(record?.originalSrc)]) {
      expect(await reprDigest(target)).to.equal(undefined)
      expect(await reprDigest(target, 'sha-256=10')).to.equal(digest('sha-256', png))
    }
    expect(await reprDigest(src, 'sha-512=3, sha-256=0')).to.equal(undefined)
    expect(await reprDigest(`${src}?w=20`, 'sha-256=1')).to.equal(undefined)
  })
})
