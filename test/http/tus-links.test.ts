import { expect } from 'chai'
import { onEveryBackend } from '../support/backends.ts'
import { type Caller, newClient, type WireRecord } from '../support/client.ts'
import { type Answer, exchange, jsonOf } from '../support/exchange.ts'
import { picture } from '../support/images.ts'
import type { Service } from '../support/service.ts'

onEveryBackend('resumable uploads by a signed link', (start) => {
  let service: Service
  let client: Caller & { id: string }
  let png: Buffer
  before(async () => {
    png = await picture()
    service = await start()
    client = await newClient(service)
  })

  const TUS = { 'Tus-Resumable': '1.0.0' }
  const link = async (body: object = {}) => {
    const answer = await exchange(service, '/v1/sign', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: client.tokens.secretClientToken },
      body: JSON.stringify({ expiresIn: 600, ...body }),
    })
    return String(jsonOf(answer).url).slice(service.url.length)
  }
  const create = (target: string, size: number, metadata?: string) =>
    exchange(service, target, {
      method: 'POST',
      headers: {
        ...{ ...TUS, 'Upload-Length': String(size) },
        ...(metadata ? { 'Upload-Metadata': metadata } : {}),
      },
    })
  const created = async (target: string, size = png.length) => {
    const answer = await create(target, size, `filename ${Buffer.from('mine.png').toString('base64')}`)
    expect(answer.status, String(answer.body)).to.equal(201)
    return String(answer.headers.location)
  }
  const send = (address: string, bytes: Uint8Array, offset = 0) =>
    exchange(service, address, {
      method: 'PATCH',
      headers: {
        ...{ ...TUS, 'Upload-Offset': String(offset) },
        'Content-Type': 'application/offset+octet-stream',
      },
      body: bytes,
    })
  const recordIn = (answer: Answer) => {
    expect(answer.status, String(answer.body)).to.equal(204)
    return JSON.parse(String(answer.headers['upload-record']))[0] as WireRecord
  }

  it('go on by their address alone, and end as an original in the link’s folder', async () => {
    const address = await created(await link({ folder: 'a/b', types: ['image/*'] }))
    expect((await send(address, png.subarray(0, 20))).status).to.equal(204)
    const half = await exchange(service, address, { method: 'HEAD', headers: TUS })
    expect(half.headers).to.include({ 'upload-offset': '20', 'access-control-allow-origin': '*' })
    const record = recordIn(await send(address, png.subarray(20), 20))
    expect(record).to.include({ originalName: 'mine.png', size: png.length, format: 'png' })
    expect(record.s3PathOriginal).to.match(/^a\/b\/image\/png\//)
    expect((await exchange(service, `${record.src}?w=20`)).status).to.equal(200)
    const asked = await exchange(service, address)
    expect(JSON.parse(String(asked.body))[0].src).to.equal(record.src)
  })

  it('use the link once, also of two that were begun by it', async () => {
    const target = await link()
    const [one, two] = [await created(target), await created(target)]
    recordIn(await send(one, png))
    const late = await send(two, png)
    expect([late.status, jsonOf(late).code]).to.deep.equal([409, 'link_used'])
    const third = await create(target, 10)
    expect([third.status, jsonOf(third).code]).to.deep.equal([409, 'link_used'])
    const direct = await exchange(service, target, { method: 'PUT', body: png })
    expect(direct.status).to.equal(409)
  })

  it('are bound by all that the link allows', async () => {
    const small = await link({ maxBytes: 30, types: ['image/png'], folder: 'a' })
    const tooLarge = await create(small, 31)
    expect(tooLarge.status).to.equal(413)
    const elsewhere = await create(small, 10, `folder ${Buffer.from('b').toString('base64')}`)
    expect(elsewhere.status).to.equal(400)
    const wrongType = await send(await created(small, 10), Buffer.from('plain text'))
    expect([wrongType.status, jsonOf(wrongType).code]).to.deep.equal([415, 'type_not_allowed'])
    expect((await create(small.replace(/=600$/, '=601'), 10)).status).to.equal(403)
    const ending = await link({ expiresIn: 1 })
    const address = await created(ending)
    await new Promise((done) => setTimeout(done, 2000))
    expect((await create(ending, 10)).status).to.equal(403)
    // What was begun in time may end later.
    recordIn(await send(address, png))
  })

  it('are found by their whole address only, and no other upload is', async () => {
    const address = await created(await link())
    const [id = '', clientId = ''] = address.slice(address.lastIndexOf('/') + 1).split('~')
    expect(clientId).to.equal(client.id)
    const other = await newClient(service)
    const head = async (name: string, headers = {}) =>
      (await exchange(service, `/v1/tus/${name}`, { method: 'HEAD', headers: { ...TUS, ...headers } })).status
    expect(await head(`${id}~${client.id}`)).to.equal(200)
    expect(await head(id)).to.equal(401)
    for (const name of [
      `${id}~${other.id}`,
      `${id}~first`,
      `${id}~`,
      `${id}~nobody`,
      `1${id.slice(1)}~${client.id}`,
    ])
      expect(await head(name), name).to.equal(404)
    expect(await head(id, { Authorization: client.tokens.secretClientToken })).to.equal(200)
    expect(await head(`${id}~${client.id}`, { Authorization: other.tokens.secretClientToken })).to.equal(404)

    const bySecret = await exchange(service, '/v1/tus', {
      method: 'POST',
      headers: { ...TUS, 'Upload-Length': '10', Authorization: client.tokens.secretClientToken },
    })
    const own = String(bySecret.headers.location).split('/').at(-1)
    expect(await head(`${own}~${client.id}`)).to.equal(404)
  })

  it('may be begun by pages of any site', async () => {
    const target = await link()
    const preflight = await exchange(service, target, {
      method: 'OPTIONS',
      headers: { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST' },
    })
    expect(preflight.headers['access-control-allow-headers']).to.include('Upload-Length')
    const answer = await create(target, 10)
    expect(answer.headers['access-control-expose-headers']).to.include('Location')
  })
})
