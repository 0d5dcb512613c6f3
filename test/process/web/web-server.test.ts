import { once } from 'node:events'
import type { Socket } from 'node:net'
import { expect } from 'chai'
import { postFiles } from '../../support/requests/client.ts'
import { openSocket, received, sendBytes } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'

const GET = 'GET /healthz HTTP/1.1\r\nHost: x\r\n'

describe('limits of a connection', () => {
  let service: Service
  before(async () => {
    service = await startService({
      env: {
        HEADERS_TIMEOUT_SECONDS: '1',
        HEADERS_MAX_BYTES: '5000',
        IDLE_TIMEOUT_SECONDS: '2',
        KEEP_ALIVE_SECONDS: '1',
        UPLOAD_MAX_FILES: '3',
      },
    })
  })
  after(() => service.stop())

  /** What comes until the connection is closed by the other side, and after how many milliseconds that is. */
  async function end(socket: Socket): Promise<{ answer: string; milliseconds: number }> {
    const startedAt = performance.now()
    const answer = await received(socket)
    return { answer, milliseconds: performance.now() - startedAt }
  }

  /** Writes this again and again, so that the connection never stands still. */
  function drip(socket: Socket, text: string): void {
    const dripping = setInterval(() => socket.write(text), 100)
    socket.once('close', () => clearInterval(dripping))
  }

  it('answers 408 after HEADERS_TIMEOUT_SECONDS when headers arrive slowly', async () => {
    const socket = await openSocket(service)
    socket.write(GET)
    drip(socket, 'a: b\r\n')
    const { answer, milliseconds } = await end(socket)
    expect(answer).to.match(/^HTTP\/1\.1 408 /)
    expect(milliseconds).to.be.at.least(900)
  })

  it('answers 408 when a client sends nothing', async () => {
    const { answer, milliseconds } = await end(await openSocket(service))
    expect(answer).to.match(/^HTTP\/1\.1 408 /)
    expect(milliseconds).to.be.at.least(900)
  })

  it('refuses headers larger than HEADERS_MAX_BYTES, and names the limit', async () => {
    const withHeader = (length: number) =>
      sendBytes(service, `${GET}Connection: close\r\na: ${'x'.repeat(length)}\r\n\r\n`)
    expect(await withHeader(4500)).to.match(/^HTTP\/1\.1 200 /)
    const refused = await withHeader(5500)
    expect(refused).to.match(/^HTTP\/1\.1 431 /)
    expect(refused).to.include('"maxBytes":5000')
  })

  it('closes an idle keep-alive connection after KEEP_ALIVE_SECONDS', async () => {
    const socket = await openSocket(service)
    socket.write(`${GET}\r\n`)
    await once(socket, 'data')
    // Node adds a second to what it tells the client; by itself it would wait for six.
    expect((await end(socket)).milliseconds).to.be.at.least(900)
  })

  it('closes a connection with a stalled body after IDLE_TIMEOUT_SECONDS', async () => {
    const socket = await openSocket(service)
    socket.write(
      'POST /v1/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n' +
        `Authorization: ${service.tokens.secretClientToken}\r\nContent-Length: 1000\r\n\r\n--b\r\n`,
    )
    expect((await end(socket)).milliseconds).to.be.at.least(1800)
  })

  it('refuses more than UPLOAD_MAX_FILES files', async () => {
    const files = (count: number) => Array.from({ length: count }, () => ({ name: 'a.txt', bytes: 'x' }))
    expect((await postFiles(service, files(3))).status).to.equal(200)
    const refused = await postFiles(service, files(4))
    expect(refused.status).to.equal(400)
    expect(await refused.text()).to.include('expected at most 3 files but received more')
  })
})
