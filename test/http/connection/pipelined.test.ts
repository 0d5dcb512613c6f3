import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { watchedEngine } from '../../support/media/engines.ts'
import { picture } from '../../support/media/images.ts'
import { sampleOf } from '../../support/metrics.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, openSocket, received } from '../../support/requests/exchange.ts'
import { MULTIPART, multipart } from '../../support/requests/multipart.ts'
import type { Service } from '../../support/service.ts'
import { breakable } from '../../support/stored/breakable.ts'
import { noise } from '../../support/stored/noise.ts'

const SIZE = 1_000_000
// More than what lies between a server and a client that does not read.
const HUGE = 30_000_000
// One that is being handled, 32 that wait.
const TAKEN = 33
const METRICS_TOKEN = 'a-token-for-metrics'

onOneBackend('pipelined requests', (start) => {
  const source = breakable()
  const watched = watchedEngine()
  let service: Service
  let large: WireRecord
  let huge: WireRecord
  /** Sources of large files that were open at once. */
  let most = 0
  let begun = 0
  before(async () => {
    service = await start({
      env: { METRICS_TOKEN },
      engines: [watched.engine],
      wrapStorage(storage) {
        const { buckets, index } = source.wrapStorage(storage)
        return {
          buckets,
          index: {
            ...index,
            beginUpload(...args) {
              begun += 1
              return index.beginUpload(...args)
            },
          },
        }
      },
    })
    large = await uploadOne(service, { name: 'large.bin', bytes: noise(SIZE) })
    huge = await uploadOne(service, { name: 'huge.bin', bytes: Buffer.alloc(HUGE) })
    for (const size of [SIZE, HUGE])
      source.breaks(size, (_asset, bytes) => {
        most = Math.max(most, source.open)
        return bytes
      })
  })
  beforeEach(() => {
    most = 0
    begun = 0
  })
  afterEach(() => {
    watched.release()
    expect(service.log.lines.filter(({ level }) => level === 'error')).to.deep.equal([])
  })

  const pathOf = ({ src }: WireRecord) => new URL(src).pathname
  const get = (path: string, ...headers: string[]) =>
    ['GET ', path, ' HTTP/1.1\r\nHost: x\r\n', ...headers.map((line) => `${line}\r\n`), '\r\n'].join('')
  const part = (from: number) => get(pathOf(large), `Range: bytes=${from}-`)
  const statusesOf = (text: string) =>
    [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
  /** What is logged of requests from now on. */
  function requestLines() {
    const from = service.log.lines.length
    return () =>
      service.log.lines
        .slice(from)
        .filter(({ message }) => message === 'request')
        .map(({ fields }) => fields)
  }
  const counted = async () =>
    sampleOf(
      (
        await exchange(service, '/metrics', { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } })
      ).body.toString(),
      'sluice_http_requests_total',
    )

  it('are handled one after another with responses in order; the 34th gets 429 and closes the connection', async () => {
    const lines = requestLines()
    const before = await counted()
    const socket = await openSocket(service)
    socket.pause()
    socket.write(Array.from({ length: 200 }, (_, i) => part(i)).join(''))
    await eventually(() => expect(source.open).to.equal(1))
    const answer = received(socket)
    socket.resume()
    const text = await answer
    expect(statusesOf(text)).to.deep.equal([...Array(TAKEN).fill(206), 429])
    const ranges = [...text.matchAll(/^Content-Range: (.*)\r$/gim)].map(([, range]) => range)
    expect(ranges).to.deep.equal(Array.from({ length: TAKEN }, (_, i) => `bytes ${i}-${SIZE - 1}/${SIZE}`))
    expect(most).to.equal(1)

    const refusal = text.slice(text.indexOf('HTTP/1.1 429'))
    const [head = '', body = ''] = refusal.split('\r\n\r\n')
    expect(head).to.match(/^connection: close\r?$/im)
    expect(head).to.match(/^retry-after: 1\r?$/im)
    expect(JSON.parse(body)).to.include({ status: 429, code: 'too_many_waiting', maxWaiting: TAKEN - 1 })
    expect(head).to.include(JSON.parse(body).instance)
    // One more: that of the metrics before.
    await eventually(() => expect(lines()).to.have.length(TAKEN + 2))
    expect(lines().filter(({ status }) => status === 429)).to.have.length(1)
    // And again, since a number is read before its own request ends.
    expect((await counted()) - before).to.equal(TAKEN + 2)
    expect(source.open).to.equal(0)
  })

  it('all end when the client disconnects', async () => {
    const lines = requestLines()
    const before = source.opened
    const socket = await openSocket(service)
    socket.on('error', () => {}).pause()
    socket.write(get(pathOf(huge)).repeat(200))
    await eventually(() => expect(source.open).to.equal(1))
    await pause(100)
    socket.destroy()
    await eventually(() => expect(source.open).to.equal(0))
    await pause(200)
    expect(source.opened - before).to.equal(1)
    expect(lines()).to.have.length(1)
    expect(lines()[0]).to.include({ status: 200, complete: false })
  })

  it('leave CPU time to other clients', async () => {
    const png = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const before = { opened: watched.opened, aborted: watched.aborted }
    watched.hold()
    const socket = await openSocket(service)
    socket.on('error', () => {})
    socket.write(Array.from({ length: 20 }, (_, i) => get(`${pathOf(png)}?w=${20 + i}`)).join(''))
    await eventually(() => expect(watched.opened - before.opened).to.equal(1))
    await pause(100)
    expect(watched.opened - before.opened).to.equal(1)
    socket.destroy()
    await eventually(() => expect(watched.aborted - before.aborted).to.equal(1))
    watched.release()
    await pause(100)
    expect(watched.opened - before.opened).to.equal(1)
  })

  it('may have bodies, which are read in order', async () => {
    const form = multipart([{ disposition: 'name="file"; filename="b.bin"', bytes: noise(300_000) }])
    const socket = await openSocket(service)
    socket.pause()
    socket.write(get(pathOf(huge)))
    socket.write(
      `POST /v1/upload HTTP/1.1\r\nHost: x\r\nAuthorization: ${service.tokens.secretClientToken}\r\n` +
        `Content-Type: ${MULTIPART}\r\nContent-Length: ${form.length}\r\n\r\n`,
    )
    socket.write(form)
    socket.write(get('/healthz', 'Connection: close'))
    await pause(300)
    expect(begun).to.equal(0)
    const answer = received(socket)
    socket.resume()
    expect(statusesOf(await answer)).to.deep.equal([200, 200, 200])
    expect(begun).to.equal(1)
  })

  it('are not handled after one that closes the connection', async () => {
    const lines = requestLines()
    const before = source.opened
    const socket = await openSocket(service)
    const answer = received(socket)
    const body = JSON.stringify({ files: [{ path: large.sourceName, type: 'application' }] })
    // Of a length that is not known, in HTTP without chunks: only the end of the connection ends it.
    socket.write(
      `POST /v1/zip HTTP/1.0\r\nConnection: keep-alive\r\nAuthorization: ${service.tokens.secretClientToken}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}${part(0).repeat(3)}`,
    )
    expect(statusesOf(await answer)).to.deep.equal([200])
    await pause(100)
    expect(lines()).to.have.length(1)
    // For the archive.
    expect(source.opened - before).to.equal(1)
  })

  it('are not handled after a 429', async () => {
    const before = source.opened
    const { hostname, port } = new URL(service.url)
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    socket.on('error', () => {})
    socket.write(part(0).repeat(TAKEN + 2))
    await once(socket.resume(), 'end')
    socket.write(part(0).repeat(3))
    await pause(200)
    expect(source.opened - before).to.equal(TAKEN)
    socket.destroy()
  })

  it('are unlimited for a client that reads its responses', async () => {
    const socket = await openSocket(service)
    for (let i = 0; i < 100; i += 1) {
      socket.write(get('/healthz'))
      const [answer] = await once(socket, 'data')
      expect(String(answer)).to.match(/^HTTP\/1\.1 200 /)
    }
    socket.destroy()
  })
})
