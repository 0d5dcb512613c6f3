import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { eventually } from '../../support/eventually.ts'
import { received } from '../../support/requests/exchange.ts'
import { MULTIPART } from '../../support/requests/multipart.ts'
import { type Service, startService } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'

// More than the buffers of both sockets hold.
const BODY = Buffer.alloc(20_000_000)
const TIMES = sized(2, 10)

describe('refusals before the body has arrived', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  /** A client that continues to send after the server has closed its side. */
  async function connected(port = Number(new URL(service.url).port)) {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    await once(socket, 'connect')
    const failures: Error[] = []
    socket.on('error', (error) => failures.push(error))
    return { socket, failures }
  }

  const answers: Array<[what: string, path: string, type: string, secret: () => string, status: number]> = [
    ['401', '/v1/upload', MULTIPART, () => 'wrong', 401],
    ['404', '/nothing', MULTIPART, () => 'wrong', 404],
    ['413', '/v1/zip', 'application/json', () => service.tokens.secretClientToken, 413],
    ['415', '/v1/upload', 'text/plain', () => service.tokens.secretClientToken, 415],
  ]
  for (const [how, line] of [
    ['HTTP/1.1, not kept alive', 'HTTP/1.1\r\nHost: x\r\nConnection: close'],
    ['HTTP/1.0, as nginx speaks it to a service', 'HTTP/1.0\r\nConnection: close'],
  ])
    for (const [what, path, type, secret, status] of answers)
      it(`reach a client that sends everything first: ${what} over ${how}`, async () => {
        for (let i = 0; i < TIMES; i += 1) {
          const { socket, failures } = await connected()
          socket.pause()
          socket.write(
            `POST ${path} ${line}\r\nAuthorization: ${secret()}\r\n` +
              `Content-Type: ${type}\r\nContent-Length: ${BODY.length}\r\n\r\n`,
          )
          await new Promise<void>((sent) => socket.end(BODY, sent))
          const answer = received(socket)
          socket.resume()
          const [head = '', body = ''] = (await answer).split('\r\n\r\n')
          expect(failures).to.deep.equal([])
          expect(head).to.match(new RegExp(`^HTTP/1\\.1 ${status} `))
          expect(head).to.match(new RegExp(`^content-length: ${body.length}\r?$`, 'im'))
          expect(head).to.match(/^connection: close\r?$/im)
          expect(JSON.parse(body)).to.include({ status })
        }
      })

  it('close the connection when the body ends', async () => {
    const server = createServer(service.app.handle)
    // It would close the connection a little later.
    server.keepAliveTimeout = 0
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const { socket, failures } = await connected((server.address() as AddressInfo).port)
    const length = 1_000_000
    try {
      socket.write(
        `POST /v1/upload HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`,
      )
      await once(socket, 'data')
      await new Promise<unknown>((sent) => socket.write(Buffer.alloc(length), sent))
      const open = () => new Promise((told) => server.getConnections((_error, count) => told(count)))
      await eventually(async () => expect(await open()).to.equal(0))
      expect(failures).to.deep.equal([])
    } finally {
      socket.destroy()
      server.close()
    }
  })

  it('reach a client that has sent many requests without reading', async () => {
    const { socket, failures } = await connected()
    socket.pause()
    const get = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
    for (let i = 0; i < 10; i += 1) await new Promise<unknown>((sent) => socket.write(get.repeat(2000), sent))
    const answer = received(socket)
    socket.resume()
    await once(socket, 'end')
    socket.write(get)
    await pause(200)
    socket.destroy()
    const text = await answer
    expect(failures).to.deep.equal([])
    expect(text.slice(text.lastIndexOf('HTTP/1.1'))).to.match(/^HTTP\/1\.1 429 /)
  })

  it('leave no listeners on a kept-alive connection', async () => {
    const warnings: Error[] = []
    const warned = (warning: Error) => {
      if (warning.name === 'MaxListenersExceededWarning') warnings.push(warning)
    }
    process.on('warning', warned)
    const { socket } = await connected()
    let told = ''
    socket.on('data', (chunk) => {
      told += chunk
    })
    for (let i = 1; i <= 15; i += 1) {
      socket.write(
        'POST /v1/upload HTTP/1.1\r\nHost: x\r\nAuthorization: wrong\r\n' +
          `Content-Type: ${MULTIPART}\r\nContent-Length: 4\r\n\r\n`,
      )
      await eventually(() => expect(told.match(/HTTP\/1\.1 401 [^{]+\{[^}]+\}/g)).to.have.length(i))
      socket.write('late')
    }
    socket.destroy()
    await pause(20)
    process.off('warning', warned)
    expect(warnings.map(({ message }) => message)).to.deep.equal([])
  })
})
