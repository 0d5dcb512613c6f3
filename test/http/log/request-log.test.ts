import { once } from 'node:events'
import { expect } from 'chai'
import { ENDPOINTS } from '../../../src/http/endpoints.ts'
import { deliveryRoutes } from '../../../src/http/log/request-log.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, openSocket } from '../../support/requests/exchange.ts'
import { MULTIPART, multipart } from '../../support/requests/multipart.ts'
import { type Service, startService } from '../../support/service.ts'

describe('the routes that count as deliveries', () => {
  it('are those that respond with files of clients', () => {
    const reads = [
      '/v1/zip/:id/:archiveName',
      '/v1/bucket/:token/*path',
      '/v1/:group/upload/:token/*path',
      '/v1/:group/alias/:token/*path',
      '/v1/:group/fetch/keep/:token/:url',
      '/v1/:group/fetch/:token/*url',
      '/v1/:group/foreign/:token/*path',
      '/compat/cloudinary/:token/*path',
      '/compat/imgproxy/:token/*path',
      '/compat/default-uploader/:token/*path',
      '/compat/openinary/:token/*path',
    ]
    const expected = reads.flatMap((route) => [`GET ${route}`, `HEAD ${route}`])
    expect([...deliveryRoutes(ENDPOINTS)]).to.have.members(['POST /v1/zip', ...expected])
  })
})

describe('the request log', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  /** What is logged of the one request that `ask` sends. */
  async function lineOf(ask: () => Promise<unknown>) {
    const earlier = service.log.lines.length
    await ask()
    await eventually(() => expect(service.log.lines).to.have.length.above(earlier))
    const [line, ...more] = service.log.lines.slice(earlier)
    expect(more).to.deep.equal([])
    return line?.fields ?? {}
  }

  const upload = () => uploadOne(service, { name: 'a.bin', bytes: Buffer.alloc(100_000) })

  it('has route, client, milliseconds and bytes of an upload', async () => {
    const fields = await lineOf(upload)
    expect(fields).to.include({ method: 'POST', route: '/v1/upload', client: 'first', status: 200 })
    expect(fields.receivedBytes).to.be.within(100_000, 101_000)
    expect(fields.bytes).to.be.within(300, 2000)
    expect(fields.ms).to.be.a('number')
  })

  it('has the route template of a delivery, and the client of its token', async () => {
    const { src } = await upload()
    const path = new URL(src).pathname
    const fields = await lineOf(() => exchange(service, path))
    const route = '/v1/:group/upload/:token/*path'
    expect(fields).to.include({ method: 'GET', route, client: 'first', status: 200, path })
    expect(fields.bytes).to.be.within(100_000, 101_000)
    expect(fields.receivedBytes).to.be.within(50, 1000)
  })

  it('counts the bytes of each request on a connection separately', async () => {
    const path = new URL((await upload()).src).pathname
    const socket = await openSocket(service)
    const earlier = service.log.lines.length
    let received = 0
    socket.on('data', (bytes: Buffer) => {
      received += bytes.length
    })
    const lines = () => service.log.lines.slice(earlier).map(({ fields }) => Number(fields.bytes))
    const send = async (what: string, count: number) => {
      socket.write(`GET ${what} HTTP/1.1\r\nHost: x\r\n\r\n`)
      await eventually(() => expect(lines()).to.have.length(count))
    }
    await send(path, 1)
    await send('/healthz', 2)
    await send(path, 3)
    await eventually(() => expect(received).to.equal(lines().reduce((sum, bytes) => sum + bytes)))
    const [large, small, again] = lines()
    expect(small).to.be.below(1000)
    expect(again).to.equal(large)
    socket.destroy()
  })

  it('has no client when the secret is missing or wrong', async () => {
    for (const headers of [{}, { Authorization: 'sec_wrong' }]) {
      const fields = await lineOf(() => exchange(service, '/v1/upload', { method: 'POST', headers }))
      expect(fields).to.include({ route: '/v1/upload', status: 401, code: 'unauthorized' })
      expect(fields).not.to.have.any.keys('client')
    }
  })

  it('has no route when no route matches', async () => {
    const fields = await lineOf(() => exchange(service, '/nowhere'))
    expect(fields).to.include({ status: 404, code: 'route_not_found' })
    expect(fields).not.to.have.any.keys('client', 'route')
  })
})

onOneBackend('the request log of aborted requests', (start) => {
  let service: Service
  let record: WireRecord
  before(async () => {
    service = await start()
    // More than the buffers of a socket take.
    record = await uploadOne(service, { name: 'a.bin', bytes: Buffer.alloc(16_000_000) })
  })

  async function lines(path: string) {
    let found: Service['log']['lines'] = []
    await eventually(() => {
      found = service.log.lines.filter(({ fields }) => fields.path === path)
      expect(found).to.have.length(1)
    })
    return found
  }

  const begun = {
    '/v1/upload': {
      type: MULTIPART,
      body: multipart([{ disposition: 'name="file"; filename="a"', bytes: 'x' }]),
    },
    '/v1/zip': { type: 'application/json', body: Buffer.from('{"files": [{"path": "a.png"}]}') },
  }
  for (const [path, { type, body }] of Object.entries(begun)) {
    it(`has no status when the client received none: ${path}`, async () => {
      const earlier = service.log.lines.length
      const socket = await openSocket(service)
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${service.tokens.secretClientToken}\r\n` +
          `Content-Type: ${type}\r\nContent-Length: 1000\r\n\r\n`,
      )
      socket.write(body.subarray(0, body.lastIndexOf('x') + 1 || 10))
      setTimeout(() => socket.destroy(), 50)
      await once(socket, 'close')
      await eventually(() => {
        const [line, ...more] = service.log.lines.slice(earlier)
        expect(more).to.deep.equal([])
        expect(line?.level).to.equal('info')
        expect(line?.fields).to.include({ method: 'POST', path, aborted: true, complete: false })
        expect(line?.fields).not.to.have.any.keys('status', 'code')
      })
    })
  }

  it('has the sent status when the client disconnects during the response', async () => {
    const path = new URL(record.src).pathname
    const socket = await openSocket(service)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await once(socket, 'data')
    socket.destroy()
    const [line] = await lines(path)
    expect(line?.fields).to.include({ status: 200, complete: false })
    expect(line?.fields).not.to.have.any.keys('aborted', 'code')
  })
})
