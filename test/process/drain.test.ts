import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { finished } from 'node:stream'
import { expect } from 'chai'
import { createShutdown } from '../../src/process/web/shutdown.ts'
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
