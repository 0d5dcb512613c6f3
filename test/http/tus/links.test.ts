import { expect } from 'chai'
import { readResumable, writeResumable } from '../../../src/service/upload/resumable/resumable-record.ts'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, newClient } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import { OFFSET_STREAM, recordIn, TUS } from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'
import { longOnce } from '../../support/sized.ts'

onOneOrTwoBackends('resumable uploads with a signed link', (start, _, itOnce) => {
  const itLongOnce = longOnce(itOnce)
  let service: Service
  let client: Caller & { id: string }
  let png: Buffer
  before(async () => {
    png = await picture()
    service = await start()
    client = await newClient(service)
  })

  const link = async (body: object = {}) => {
    const answer = await ask(client, '/v1/sign', { method: 'POST', json: { expiresIn: 600, ...body } })
    return (answer.body as { url: string }).url.slice(service.url.length)
  }
  const create = (target: string, size: number, metadata?: string) =>
    exchange(service, target, {
      method: 'POST',
      headers: {
        ...TUS,
        'Upload-Length': String(size),
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
      headers: { ...TUS, ...OFFSET_STREAM, 'Upload-Offset': String(offset) },
      body: bytes,
    })

  it('continue without the link, and store the original in the folder of the link', async () => {
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

  const remove = async (address: string) => {
    const { status } = await exchange(service, address, { method: 'DELETE', headers: TUS })
    expect(status).to.equal(204)
  }
  const head = async (address: string) =>
    (await exchange(service, address, { method: 'HEAD', headers: TUS })).status
  const expectProblem = (answer: Answer, status: number, code: string) =>
    expect([answer.status, jsonOf(answer).code]).to.deep.equal([status, code])
  const leftOf = async (address: string) => {
    const [id = ''] = address.slice(address.lastIndexOf('/') + 1).split('~')
    return (await service.objects()).filter((key) => key.includes('.sluice/tus/') && key.includes(id))
  }

  it('use the link once, and are discarded when another upload has used it', async () => {
    const target = await link()
    const address = await created(target)
    const direct = await exchange(service, target, { method: 'PUT', body: png })
    expect(direct.status, String(direct.body)).to.equal(200)
    expectProblem(await send(address, png), 409, 'link_used')
    expect(await leftOf(address)).to.deep.equal([])
    expect(await head(address)).to.equal(404)
    expectProblem(await create(target, 10), 409, 'link_used')
    const stored = await link()
    recordIn(await send(await created(stored), png))
    expectProblem(await create(stored, 10), 409, 'link_used')
    expectProblem(await exchange(service, stored, { method: 'PUT', body: png }), 409, 'link_used')
  })

  itOnce('are limited to the remaining uses of the link', async () => {
    const target = await link({ uses: 2 })
    const [one, two] = [await created(target), await created(target)]
    const busy = await create(target, 10)
    expectProblem(busy, 409, 'link_busy')
    expect(Number(busy.headers['retry-after'])).to.be.within(1, 60)
    expect(await leftOf(one)).to.have.lengthOf(1)
    await remove(one)
    const three = await created(target)
    expectProblem(await create(target, 10), 409, 'link_busy')
    recordIn(await send(two, png))
    expectProblem(await create(target, 10), 409, 'link_busy')
    recordIn(await send(three, png))
    expectProblem(await create(target, 10), 409, 'link_used')
  })

  it('are limited to the remaining uses when many begin at the same moment', async () => {
    const target = await link({ uses: 3 })
    const answers = await Promise.all(Array.from({ length: 9 }, () => create(target, 10)))
    expect(answers.filter(({ status }) => status === 201)).to.have.lengthOf(3)
    for (const answer of answers) if (answer.status !== 201) expectProblem(answer, 409, 'link_busy')
  })

  it('release the link after a minute without bytes', async () => {
    const target = await link()
    const address = await created(target)
    const bucket = service.storage.buckets.of({ id: 'first', token: '' })
    const age = async (of: string) => {
      const ref = { clientId: client.id, id: of.slice(of.lastIndexOf('/') + 1).split('~')[0] ?? '' }
      const record = await readResumable(bucket, ref)
      if (!record) throw new Error('no record')
      await writeResumable(bucket, ref, { ...record, createdAt: record.createdAt - 61_000 })
    }
    expectProblem(await create(target, 10), 409, 'link_busy')
    await age(address)
    const next = await created(target)
    expect([await head(address), await head(next)]).to.deep.equal([404, 200])
    await send(next, png.subarray(0, 5))
    await age(next)
    expectProblem(await create(target, 10), 409, 'link_busy')
  })

  itOnce('accept no more bytes than the link and the client allow, with and without a length', async () => {
    const deferred = async (target: string) => {
      const headers = { ...TUS, 'Upload-Defer-Length': '1' }
      const answer = await exchange(service, target, { method: 'POST', headers })
      return String(answer.headers.location)
    }
    const small = await deferred(await link({ maxBytes: 30 }))
    expect((await send(small, png.subarray(0, 20))).status).to.equal(204)
    expectProblem(await send(small, png.subarray(20, 31), 20), 413, 'too_large')
    expect((await send(small, png.subarray(20, 30), 20)).status).to.equal(204)
    expectProblem(await send(small, png.subarray(30, 31), 30), 413, 'too_large')
    const asked = await exchange(service, small, { method: 'HEAD', headers: TUS })
    expect(asked.headers['upload-offset']).to.equal('30')
    const within = await exchange(service, await link({ maxBytes: 30 }), {
      method: 'POST',
      headers: { ...TUS, 'Upload-Defer-Length': '1', 'Content-Type': 'application/offset+octet-stream' },
      body: png.subarray(0, 31),
    })
    expect(within.status).to.equal(413)
  })

  itOnce('are bound by every restriction of the link', async () => {
    const small = await link({ maxBytes: 30, types: ['image/png'], folder: 'a' })
    const tooLarge = await create(small, 31)
    expect(tooLarge.status).to.equal(413)
    const elsewhere = await create(small, 10, `folder ${Buffer.from('b').toString('base64')}`)
    expect(elsewhere.status).to.equal(400)
    const text = await created(small, 10)
    expectProblem(await send(text, Buffer.from('plain text')), 415, 'type_not_allowed')
    expect(await leftOf(text)).to.deep.equal([])
    expect((await create(small.replace(/=600$/, '=601'), 10)).status).to.equal(403)
  })

  itLongOnce('begin in the time of the link, and may end later', async () => {
    const ending = await link({ expiresIn: 4 })
    const address = await created(ending)
    await new Promise((done) => setTimeout(done, 5000))
    expect((await create(ending, 10)).status).to.equal(403)
    recordIn(await send(address, png))
  })

  itOnce('are found by their complete URL only, and give access to no other upload', async () => {
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
      `${id.startsWith('1') ? '2' : '1'}${id.slice(1)}~${client.id}`,
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

  itOnce('can be created by pages of any origin', async () => {
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
