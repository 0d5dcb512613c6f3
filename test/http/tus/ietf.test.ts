import { once } from 'node:events'
import { type OutgoingHttpHeaders, request } from 'node:http'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Call, exchange, jsonOf } from '../../support/requests/exchange.ts'
import { recordIn, TUS, tus, uploadedByTusJs } from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'
import { noise } from '../../support/stored/noise.ts'

// What URLSession of iOS and macOS sends with each of its uploads.
const OF_URLSESSION = { 'Upload-Complete': '?1', 'Upload-Draft-Interop-Version': '6' }

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

  it('continue after a connection that broke in the only request, at the address in the response 104', async () => {
    const client = await start({ env: { SEND_104: '1' } })
    const bytes = noise(300_000)
    const { hostname, port } = new URL(client.url)
    const headers = { ...OF_URLSESSION, Authorization: client.tokens.secretClientToken }
    const sent = request({ hostname, port, path: '/v1/tus', method: 'POST', headers })
    sent.setHeader('Content-Length', bytes.length)
    sent.on('error', () => {})
    sent.write(bytes.subarray(0, 200_000))
    const [interim] = await once(sent, 'information')
    expect([interim.statusCode, interim.headers['upload-draft-interop-version']]).to.deep.equal([104, '6'])
    const address = String(interim.headers.location)
    sent.destroy()

    const head = await exchange(client, address, {
      method: 'HEAD',
      headers: {
        Authorization: client.tokens.secretClientToken,
        'Upload-Draft-Interop-Version': '6',
      },
    })
    const offset = Number(head.headers['upload-offset'])
    const rest = await exchange(client, address, {
      method: 'PATCH',
      headers: {
        ...headers,
        'Content-Type': 'application/partial-upload',
        'Content-Length': bytes.length - offset,
        'Upload-Offset': offset,
      },
      body: bytes.subarray(offset),
    })
    expect(rest.status, String(rest.body)).to.equal(204)
    expect((await exchange(client, recordIn(rest).src)).body.equals(bytes)).to.equal(true)
  })

  it('have no response 104 by default, and never when they are refused or the protocol is tus', async () => {
    const client = await start({ env: { SEND_104: '1' } })
    const interims: number[] = []
    const post = (to: Service, headers: OutgoingHttpHeaders) =>
      new Promise<number>((resolve, reject) => {
        const { hostname, port } = new URL(to.url)
        const sent = request({
          hostname,
          port,
          path: '/v1/tus',
          method: 'POST',
          headers: {
            Authorization: to.tokens.secretClientToken,
            ...headers,
          },
        })
        sent.on('information', ({ statusCode }) => interims.push(statusCode))
        sent.once('error', reject).once('response', (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        })
        sent.end()
      })
    expect(await post(service, { ...OF_URLSESSION, 'Content-Length': 0 })).to.equal(201)
    expect(await post(client, { ...OF_URLSESSION, 'Upload-Complete': 'yes' })).to.equal(400)
    expect(await post(client, { ...TUS, 'Upload-Length': 5 })).to.equal(201)
    expect(interims).to.deep.equal([])
    expect(await post(client, { ...OF_URLSESSION, 'Content-Length': 0 })).to.equal(201)
    expect(interims).to.deep.equal([104])
  })

  it('leave forms and unknown versions by a signed link to ordinary uploads', async () => {
    const link = async () => {
      const { body } = await ask(service, '/v1/sign', { method: 'POST', json: { expiresIn: 600 } })
      return (body as { url: string }).url
    }
    const form = new FormData()
    form.append('file', new Blob([png]), 'form.png')
    const inForm = await fetch(await link(), { method: 'POST', headers: OF_URLSESSION, body: form })
    expect(inForm.status).to.equal(200)
    expect(JSON.stringify(await inForm.json())).to.include('form.png')
    const newer = { 'Upload-Complete': '?1', 'Upload-Draft-Interop-Version': '9' }
    const raw = await exchange(service, await link(), { method: 'POST', headers: newer, body: png })
    expect([raw.status, raw.headers['tus-resumable']], String(raw.body)).to.deep.equal([200, undefined])
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
