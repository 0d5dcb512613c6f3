import { once } from 'node:events'
import type { Socket } from 'node:net'
import { expect } from 'chai'
import { eventually } from '../../support/eventually.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { openSocket } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'
import { noise } from '../../support/stored/noise.ts'

describe('concurrent requests of one address', () => {
  let service: Service
  let src: string
  const sockets: Socket[] = []
  before(async () => {
    service = await startService({ env: { CONNECTIONS_PER_ADDRESS: '3', TRUST_PROXY: '1' } })
    // More than the system takes for a client that does not read.
    src = (await uploadOne(service, { name: 'a.bin', bytes: noise(16 * 1024 * 1024) })).src
  })
  after(async () => {
    for (const socket of sockets) socket.destroy()
    await service.stop()
  })

  /** Begins an answer and does not read it. */
  async function beginOne(address: string, secret?: string): Promise<Socket> {
    const socket = await openSocket(service)
    socket.on('error', () => {}).pause()
    const authorization = secret === undefined ? '' : `Authorization: ${secret}\r\n`
    socket.write(
      `GET ${new URL(src).pathname} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n${authorization}\r\n`,
    )
    sockets.push(socket)
    // A request of the test that came before this one would have its place.
    await once(socket, 'readable')
    return socket
  }

  const statusFor = async (address: string, path = new URL(src).pathname, secret?: string) => {
    const response = await fetch(service.url + path, {
      method: 'HEAD',
      headers: { 'X-Forwarded-For': address, ...(secret === undefined ? {} : { Authorization: secret }) },
    })
    return { status: response.status, retryAfter: response.headers.get('Retry-After') }
  }

  it('are refused above CONNECTIONS_PER_ADDRESS, until one ends', async () => {
    const all = await Promise.all([1, 2, 3].map(() => beginOne('127.0.0.2')))
    await eventually(async () =>
      expect(await statusFor('127.0.0.2')).to.deep.equal({ status: 429, retryAfter: '5' }),
    )
    all[0]?.destroy()
    await eventually(async () => expect((await statusFor('127.0.0.2')).status).to.equal(200))
  })

  it('are counted by the address of the caller, not of the proxy', async () => {
    expect((await statusFor('127.0.0.3')).status).to.equal(200)
  })

  it('never refuse a health check', async () => {
    await beginOne('127.0.0.2')
    await eventually(async () => expect((await statusFor('127.0.0.2')).status).to.equal(429))
    expect((await statusFor('127.0.0.2', '/healthz')).status).to.equal(200)
  })

  it('have a separate limit of the same size with a secret of a client', async () => {
    const secret = service.tokens.secretClientToken
    const path = new URL(src).pathname
    const statuses = async (address: string) => ({
      public: (await statusFor(address)).status,
      unknown: (await statusFor(address, path, 'sec_that_is_of_no_client')).status,
      trusted: (await statusFor(address, path, `Bearer ${secret}`)).status,
    })
    for (let i = 0; i < 3; i += 1) await beginOne('127.0.0.5')
    await eventually(async () =>
      expect(await statuses('127.0.0.5')).to.deep.equal({ public: 429, unknown: 429, trusted: 200 }),
    )
    for (let i = 0; i < 3; i += 1) await beginOne('127.0.0.6', secret)
    await eventually(async () =>
      expect(await statuses('127.0.0.6')).to.deep.equal({ public: 200, unknown: 200, trusted: 429 }),
    )
  })
})
