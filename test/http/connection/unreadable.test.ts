import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { openSocket, received, sendBytes } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('an unreadable request', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  const secret = () => service.tokens.secretClientToken
  const cases: Record<string, { bytes: () => string; status: number; code: string; detail: RegExp }> = {
    'characters past ASCII in the address': {
      bytes: () => `DELETE /v1/upload/\xc3\xbc/${secret()}.png HTTP/1.1\r\nHost: x\r\n\r\n`,
      status: 400,
      code: 'bad_request',
      detail: /percent-encoded/,
    },
    'no HTTP': {
      bytes: () => `${secret()}\r\n\r\n`,
      status: 400,
      code: 'bad_request',
      detail: /well-formed/,
    },
    'a control character in a header': {
      bytes: () => `GET / HTTP/1.1\r\nHost: x\r\nAuthorization: ${secret()}\x01\r\n\r\n`,
      status: 400,
      code: 'bad_request',
      detail: /well-formed/,
    },
    'headers of 100 KB': {
      bytes: () => `GET / HTTP/1.1\r\nHost: x\r\nAuthorization: ${secret()}${'x'.repeat(100_000)}\r\n\r\n`,
      status: 431,
      code: 'headers_too_large',
      detail: /at most 16384 bytes/,
    },
    'an address of 100 KB': {
      bytes: () => `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      status: 431,
      code: 'headers_too_large',
      detail: /at most 16384 bytes/,
    },
    'a chunk without a length, where an upload is waiting for one': {
      bytes: () =>
        `POST /v1/upload HTTP/1.1\r\nHost: x\r\nAuthorization: ${secret()}\r\n` +
        'Content-Type: multipart/form-data; boundary=x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      status: 400,
      code: 'bad_request',
      detail: /well-formed/,
    },
  }
  for (const [what, { bytes, status, code, detail }] of Object.entries(cases)) {
    it(`gets ${status} and is logged without its bytes: ${what}`, async () => {
      const earlier = service.log.lines.length
      const socket = await openSocket(service)
      const answer = received(socket)
      socket.write(Buffer.from(bytes(), 'latin1'))
      const [head = '', body = ''] = (await answer).split('\r\n\r\n')
      const [line, ...headers] = head.split('\r\n')
      expect(line).to.match(new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`))
      const problem = JSON.parse(body)
      expect(headers).to.include.members([
        'Content-Type: application/problem+json',
        `Content-Length: ${body.length}`,
        'Cache-Control: no-store',
        'Connection: close',
        `X-Request-Id: ${problem.instance}`,
      ])
      expect(problem).to.include({ status, code, type: `urn:sluice:problem:${code}` })
      expect(problem.detail).to.match(detail)

      const lines = () => service.log.lines.slice(earlier)
      await eventually(() => {
        const told = lines().filter(({ fields }) => fields.requestId === problem.instance)
        expect(told).to.have.length(1)
        expect(told[0]).to.include({ level: 'info', message: 'malformed request' })
        expect(told[0]?.fields).to.include({ status, code })
      })
      expect(inspect(lines(), { depth: 9 })).not.to.include(secret())
    })
  }

  it('gets its response also when the client reads only after it has sent everything', async () => {
    const socket = await openSocket(service)
    const failures: Error[] = []
    socket.on('error', (error) => failures.push(error)).pause()
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(100_000)}`)
    for (let i = 0; i < 10; i += 1) {
      await pause(20)
      socket.write('x'.repeat(10_000))
    }
    const answer = received(socket)
    socket.resume()
    expect(await answer).to.match(/^HTTP\/1\.1 431 /)
    expect(failures).to.deep.equal([])
  })

  it('gets no response in the middle of another one', async () => {
    const size = 32_000_000
    const { src } = await uploadOne(service, { name: 'a.bin', bytes: Buffer.alloc(size) })
    const socket = await openSocket(service)
    socket.write(`GET ${new URL(src).pathname} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await once(socket, 'data')
    socket.pause()
    socket.write('nonsense\r\n\r\n')
    await eventually(() => expect(service.log.lines.at(-1)?.message).to.equal('request'))
    const answer = received(socket)
    socket.resume()
    expect(await answer).not.to.include('HTTP/1.1')
    expect(service.log.lines.at(-1)?.fields).to.include({ status: 200, complete: false })
  })

  for (const [how, leave] of [
    ['by a reset', (socket: Socket) => socket.resetAndDestroy()],
    ['by an end', (socket: Socket) => socket.end()],
  ] as const) {
    it(`is not logged when the client has only disconnected, ${how}`, async () => {
      const earlier = service.log.lines.length
      const socket = await openSocket(service)
      await new Promise((written) => socket.write('GET / HT', written))
      await pause(50)
      leave(socket)
      await sendBytes(service, 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      await eventually(() => expect(service.log.lines.slice(earlier)).to.have.length(1))
      expect(service.log.lines.at(-1)?.fields).to.include({ path: '/healthz' })
    })
  }

  it('gets 408 when it does not arrive in time', async () => {
    const server = createServer({ headersTimeout: 100, connectionsCheckingInterval: 50 })
    service.app.handleParseErrors(server)
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const { port } = server.address() as AddressInfo
    const answer = await sendBytes({ url: `http://127.0.0.1:${port}` }, 'GET / HTTP/1.1\r\n')
    server.close()
    expect(answer).to.match(/^HTTP\/1\.1 408 Request Timeout\r\n/)
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).to.include({ code: 'request_timeout' })
  })
})
