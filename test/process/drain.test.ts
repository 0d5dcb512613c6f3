import { once } from 'node:events'
import { createServer, IncomingMessage, request, type Server, ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { finished } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { createShutdown } from '../../src/process/web/shutdown.ts'
import { createWebServer } from '../../src/process/web/web-server.ts'
import { eventually } from '../support/eventually.ts'
import { rejection } from '../support/rejection.ts'

const AN_HOUR_MS = 3_600_000

describe('the time to drain', () => {
  let server: Server
  beforeEach(async () => {
    // The end of the drain aborts a request: an error that this server has to catch.
    server = createServer((req, res) => {
      finished(req.resume(), (error) => error ?? res.end('stored'))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
  })

  /** An upload whose first half has arrived. */
  async function begunUpload() {
    const { port } = server.address() as AddressInfo
    const upload = request({ port, method: 'POST', headers: { 'Content-Length': 4 } })
    const answer = once(upload, 'response') as Promise<[IncomingMessage]>
    const arrived = once(server, 'request')
    upload.write('fi')
    await arrived
    return { upload, answer }
  }

  it('is for uploads in progress, however long it is', async () => {
    const { upload, answer } = await begunUpload()
    const stopped = createShutdown(server).stop({ delayMs: 0, drainMs: AN_HOUR_MS })
    upload.end('le')
    const [response] = await answer
    expect(response.statusCode).to.equal(200)
    response.resume()
    await stopped
  })

  it('ends with their connections', async () => {
    const { answer } = await begunUpload()
    const failed = rejection(answer)
    await createShutdown(server).stop({ delayMs: 0, drainMs: 1 })
    expect(await failed).to.have.property('code', 'ECONNRESET')
  })
})

describe('the drain', () => {
  it('closes the connection of a request with Expect: 100-continue', async () => {
    const held: ServerResponse[] = []
    const web = createWebServer(
      {
        HEADERS_TIMEOUT_SECONDS: 60,
        HEADERS_MAX_BYTES: 5000,
        IDLE_TIMEOUT_SECONDS: 60,
        KEEP_ALIVE_SECONDS: 60,
      },
      (req, res) => {
        shutdown.mark(res)
        if (req.method === 'GET') held.push(res)
        else req.resume().once('end', () => res.end('stored'))
      },
      { IncomingMessage, ServerResponse },
    )
    const shutdown = createShutdown(web)
    await once(web.listen(0, '127.0.0.1'), 'listening')
    const socket = connect((web.address() as AddressInfo).port, '127.0.0.1')
    const answers = text(socket)
    const arrived = once(web, 'request')
    // A request in progress holds the connection during the drain.
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await arrived
    const stopped = shutdown.stop({ delayMs: 0, drainMs: AN_HOUR_MS })
    await eventually(() => expect(web.listening).to.equal(false))
    const expecting = once(web, 'checkContinue')
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nfile')
    await expecting
    held[0]?.end()
    const [, stored] = (await answers).split('HTTP/1.1 100 Continue')
    expect(stored).to.include('Connection: close')
    await stopped
  })
})
