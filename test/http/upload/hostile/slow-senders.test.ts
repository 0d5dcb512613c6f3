import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { onOneBackend } from '../../../support/backends.ts'
import { openSocket } from '../../../support/requests/exchange.ts'
import { MULTIPART } from '../../../support/requests/multipart.ts'
import type { Service } from '../../../support/service.ts'

onOneBackend('requests whose body never ends', (start) => {
  let service: Service
  before(async () => {
    service = await start({ env: { ZIP_RATE_LIMIT: '1000' } })
  })

  // All at once, since each takes five seconds.
  it('are disconnected some seconds after the response, on every endpoint and after an unreadable request', async () => {
    const kinds: Array<[endpoint: string, type: string, secret: string, status: string]> = [
      ['POST /v1/upload', MULTIPART, 'wrong', '401'],
      ['POST /v1/upload', 'text/plain', service.tokens.secretClientToken, '415'],
      ['POST /v1/zip', 'application/json', 'wrong', '401'],
      ['POST /v1/zip', 'text/plain', service.tokens.secretClientToken, '415'],
      // No ordinary client sends a body to these, except to hold a connection.
      ['PUT /v1/zip', 'text/plain', 'wrong', '405'],
      ['DELETE /v1/upload/image/png/a.png', 'text/plain', 'wrong', '401'],
      ['GET /v1/image/upload/nobody/a.png', 'text/plain', 'wrong', '404'],
      ['GET /healthz', 'text/plain', 'wrong', '200'],
      ['POST /nothing', 'text/plain', 'wrong', '404'],
    ]
    const cut = kinds.map(async ([endpoint, type, secret, status]) => {
      const socket = await openSocket(service)
      socket.on('error', () => {})
      socket.write(
        `${endpoint} HTTP/1.1\r\nHost: x\r\nAuthorization: ${secret}\r\n` +
          `Content-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      )
      const sending = setInterval(() => socket.write('4\r\nmore\r\n'), 50)
      const startedAt = performance.now()
      const [head] = await once(socket, 'data')
      await closed(socket)
      clearInterval(sending)
      expect(String(head)).to.match(new RegExp(`^HTTP/1\\.1 ${status} `))
      return performance.now() - startedAt
    })
    cut.push(cutAfterNoRequest())
    for (const milliseconds of await Promise.all(cut)) expect(milliseconds).to.be.at.least(3000)
  })

  /** However that comes: what is still being sent may meet a reset. */
  function closed(socket: Socket): Promise<unknown> {
    return new Promise((done) => socket.once('close', done))
  }

  async function cutAfterNoRequest(): Promise<number> {
    const { hostname, port } = new URL(service.url)
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    socket.on('error', () => {})
    socket.write('no request\r\n\r\n')
    const startedAt = performance.now()
    const [answer] = await once(socket, 'data')
    const sending = setInterval(() => socket.write('more'), 50)
    await closed(socket)
    clearInterval(sending)
    expect(String(answer)).to.match(/^HTTP\/1\.1 400 /)
    return performance.now() - startedAt
  }
})
