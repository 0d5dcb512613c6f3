import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { newClient, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, type Call, exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('requests with an Idempotency-Key', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  const send = (key: string, target: string, { headers, ...call }: Call) =>
    exchange(service, target, {
      ...call,
      headers: { Authorization: service.tokens.secretClientToken, 'Idempotency-Key': key, ...headers },
    })
  const put = (key: string, body: Call['body'] = 'text', target = '/v1/upload/a.txt') =>
    send(key, target, { method: 'PUT', body })
  const post = (key: string, target: string, body: unknown) =>
    send(key, target, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  const form = (key: string, boundary: string, { name = 'a.txt', bytes = 'text', tags = '["one"]' } = {}) =>
    send(key, '/v1/upload?path=forms', {
      method: 'POST',
      headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
      body: [
        `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n${bytes}\r\n`,
        `--${boundary}\r\nContent-Disposition: form-data; name="tags"\r\n\r\n${tags}\r\n--${boundary}--\r\n`,
      ].join(''),
    })
  const recordsIn = (answer: Answer) => {
    expect(answer.status, answer.body.toString()).to.equal(200)
    return jsonOf(answer) as unknown as WireRecord[]
  }
  const stored = async () => (await service.objects()).length

  it('store a file once, and return its record again', async () => {
    const first = recordsIn(await put('raw'))
    const objects = await stored()
    expect(recordsIn(await put('raw'))).to.deep.equal(first)
    expect(recordsIn(await put('"raw"'))).to.deep.equal(first)
    expect(await stored()).to.equal(objects)
    expect(recordsIn(await put('another'))[0]?.src).not.to.equal(first[0]?.src)
  })

  it('compare a form by its files and fields, not by its boundary', async () => {
    const first = recordsIn(await form('form', 'one'))
    expect(recordsIn(await form('form', 'two'))).to.deep.equal(first)
    for (const change of [{ name: 'b.txt' }, { bytes: 'texts' }, { tags: '["two"]' }])
      expect(jsonOf(await form('form', 'one', change))).to.include({ status: 422, code: 'other_request' })
  })

  it('refuse another body or another URL', async () => {
    await put('mine')
    for (const answer of [await put('mine', 'other'), await put('mine', 'text', '/v1/upload/b.txt')])
      expect(jsonOf(answer)).to.include({ status: 422, code: 'other_request' })
  })

  it('refuse a repetition while the first one is being sent, and execute what has failed', async () => {
    const body = new PassThrough()
    const first = put('slow', body)
    body.write('te')
    await eventually(async () => {
      const second = await put('slow')
      expect(jsonOf(second)).to.include({ status: 409, code: 'request_conflict' })
      expect(second.headers['retry-after']).to.equal('1')
    })
    body.end('xt')
    const records = recordsIn(await first)
    expect(recordsIn(await put('slow'))).to.deep.equal(records)
    const damaged = { method: 'PUT', body: 'text', headers: { 'Content-MD5': '1B2M2Y8AsgTpgAmY7PhCfg==' } }
    expect((await send('failed', '/v1/upload/a.txt', damaged)).status).to.equal(400)
    recordsIn(await put('failed'))
  })

  it('copy files, create links and sign once', async () => {
    const [record] = recordsIn(await put('source'))
    const key = record?.s3PathOriginal
    for (const [target, body, other] of [
      [
        '/v1/files/copy',
        { files: [{ from: key, to: 'copies' }] },
        { files: [{ from: key, to: 'elsewhere' }] },
      ],
      ['/v1/zip/links', { files: [{ path: key }] }, { files: [{ path: key }], archiveName: 'b.zip' }],
      ['/v1/sign', { folder: 'a', expiresIn: 60 }, { folder: 'b', expiresIn: 60 }],
    ] as const) {
      const first = await post(`key of ${target}`, target, body)
      expect(first.status).to.be.within(200, 201)
      const again = await post(`key of ${target}`, target, body)
      expect({ status: again.status, body: jsonOf(again) }).to.deep.equal({
        status: first.status,
        body: jsonOf(first),
      })
      expect(jsonOf(await post(`key of ${target}`, target, other))).to.include({ code: 'other_request' })
    }
    const { body } = await exchange(service, '/v1/files?prefix=copies/', {
      headers: { Authorization: service.tokens.secretClientToken },
    })
    expect(JSON.parse(body.toString()).files).to.have.length(1)
  })

  it('belong to one client, and have a key of 1 to 255 characters', async () => {
    await put('shared')
    const other = await newClient(service)
    const headers = { Authorization: other.tokens.secretClientToken, 'Idempotency-Key': 'shared' }
    const answer = await exchange(service, '/v1/upload/b.txt', { method: 'PUT', headers, body: 'other' })
    expect(recordsIn(answer)[0]?.originalName).to.equal('b.txt')
    for (const key of ['', 'k'.repeat(256), 'ü'])
      expect(jsonOf(await put(key))).to.include({ code: 'bad_parameter', param: 'Idempotency-Key' })
    recordsIn(await put('k'.repeat(255)))
  })
})
