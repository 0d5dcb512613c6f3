import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Call, exchange, jsonOf } from '../../support/requests/exchange.ts'
import { noise, recordIn, tus, uploadedByTusJs } from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('resumable uploads by the protocol of the IETF', (start) => {
  let service: Service
  let png: Buffer
  before(async () => {
    png = await picture()
    service = await start()
  })

  const send = (target: string, { headers, ...call }: Call) =>
    exchange(service, target, {
      ...call,
      headers: {
        Authorization: service.tokens.secretClientToken,
        'Upload-Draft-Interop-Version': '6',
        ...headers,
      },
    })
  const patch = (address: string, offset: number, body: Buffer, isLast: boolean) =>
    send(address, {
      method: 'PATCH',
      headers: {
        'Content-Type': 'application/partial-upload',
        'Content-Length': body.length,
        'Upload-Offset': offset,
        'Upload-Complete': isLast ? '?1' : '?0',
      },
      body,
    })

  it('store a file that is sent in one request, named as a download would be', async () => {
    const answer = await send('/v1/tus', {
      method: 'POST',
      headers: {
        'Upload-Complete': '?1',
        'Content-Length': png.length,
        'Content-Disposition': `attachment; filename="a b.png"`,
      },
      body: png,
    })
    expect(answer.status, String(answer.body)).to.equal(201)
    expect(answer.headers).to.include({
      'upload-complete': '?1',
      'upload-offset': String(png.length),
      'upload-draft-interop-version': '6',
    })
    expect(answer.headers.location).to.match(/\/v1\/tus\//)
    const record = recordIn(answer)
    expect(record).to.include({ originalName: 'a b.png', size: png.length })
    expect((await exchange(service, record.src)).body.equals(png)).to.equal(true)
  })

  it('continue at the offset, and learn the size from the last request', async () => {
    const created = await send('/v1/tus', { method: 'POST', headers: { 'Upload-Complete': '?0' } })
    expect(created.status, String(created.body)).to.equal(201)
    expect(created.headers).to.include({ 'upload-complete': '?0', 'upload-offset': '0' })
    const address = String(created.headers.location)
    const first = await patch(address, 0, png.subarray(0, 50), false)
    expect([first.status, first.headers['upload-offset'], first.headers['upload-complete']]).to.deep.equal([
      204,
      '50',
      '?0',
    ])
    const head = await send(address, { method: 'HEAD' })
    expect(head.status).to.equal(204)
    expect(head.headers).to.include({
      'upload-offset': '50',
      'upload-complete': '?0',
      'cache-control': 'no-store',
    })
    const again = await patch(address, 0, png.subarray(0, 50), false)
    expect([again.status, jsonOf(again).code]).to.deep.equal([409, 'offset_conflict'])
    const last = await patch(address, 50, png.subarray(50), true)
    expect([last.status, last.headers['upload-complete']]).to.deep.equal([204, '?1'])
    expect((await exchange(service, recordIn(last).src)).body.equals(png)).to.equal(true)
    expect((await send(address, { method: 'HEAD' })).headers['upload-complete']).to.equal('?1')
    expect((await send(address, { method: 'DELETE' })).status).to.equal(204)
  })

  it('state what is wrong with a request', async () => {
    const post = (headers: Record<string, string>) => send('/v1/tus', { method: 'POST', headers })
    for (const [headers, status, code] of [
      [{}, 400, 'bad_parameter'],
      [{ 'Upload-Complete': 'yes' }, 400, 'bad_parameter'],
      [{ 'Upload-Complete': '?0', 'Upload-Draft-Interop-Version': '3' }, 400, 'bad_parameter'],
      [{ 'Upload-Complete': '?0', Authorization: 'sec_nobody_has_this_one' }, 401, 'unauthorized'],
    ] as const) {
      const answer = await post(headers)
      expect([answer.status, jsonOf(answer).code], JSON.stringify(headers)).to.deep.equal([status, code])
    }
    const unknown = await send('/v1/tus', {
      method: 'POST',
      headers: { 'Upload-Complete': '?1', 'Transfer-Encoding': 'chunked' },
      body: png,
    })
    expect([unknown.status, jsonOf(unknown).code]).to.deep.equal([411, 'length_required'])
  })

  for (const protocol of ['ietf-draft-03', 'ietf-draft-05'] as const)
    it(`are what tus-js-client sends with ${protocol}, by a signed link`, async () => {
      const { body } = await ask(service, '/v1/sign', { method: 'POST', json: { expiresIn: 600 } })
      const bytes = noise(300_000)
      // Its types lack the option.
      const options = { protocol } as object
      const pathname = await uploadedByTusJs(bytes, {
        ...options,
        endpoint: (body as { url: string }).url,
        metadata: { filename: 'ietf.bin' },
        chunkSize: 100_000,
      })
      const [record] = JSON.parse((await tus(service, pathname)).body.toString())
      expect(record).to.include({ originalName: 'ietf.bin', size: bytes.length })
      expect((await exchange(service, record.src)).body.equals(bytes)).to.equal(true)
    })
})
