import type { Socket } from 'node:net'
import { expect } from 'chai'
import sharp from 'sharp'
import { newClient } from '../../support/requests/client.ts'
import { openSocket } from '../../support/requests/exchange.ts'
import type { Remote } from '../../support/requests/remote.ts'
import { fetchingFrom, fetchPath, fileServer } from '../../support/requests/remote-files.ts'
import { type Service, startService } from '../../support/service.ts'

const SUM = 64 * 1024 * 1024
const READERS = 12

describe('slow readers of a transformed remote image', () => {
  let service: Service
  let server: Remote
  const sockets: Socket[] = []
  before(async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 80 } as const
    const create = { width: 1650, height: 1650, channels: 3, background: '#888', noise } as const
    server = await fileServer({
      '/a.png': await sharp({ create }).png({ compressionLevel: 1 }).toBuffer(),
    })
    service = await startService({
      env: {
        ...fetchingFrom(server),
        FETCH_RATE_LIMIT: '0',
        FETCH_RATE_LIMIT_PER_IP: '0',
        CONNECTIONS_PER_ADDRESS: '0',
      },
    })
  })
  after(async () => {
    for (const socket of sockets) socket.destroy()
    await service.stop()
    await server.close()
  })

  it('hold at most 64 MiB together, since the derivative is not stored', async () => {
    const client = await newClient(service)
    await service.app.clients.setRules(client.id, { fetchHosts: ['127.0.0.1'] })
    const path = fetchPath(client, server.url('/a.png'), { query: '?w=1600' })
    const heads = await Promise.all(
      Array.from({ length: READERS }, async () => {
        const socket = await openSocket(service)
        sockets.push(socket)
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
        return new Promise<string>((resolve) => {
          socket.once('data', (chunk) => {
            socket.pause()
            resolve(chunk.toString('latin1', 0, 1000))
          })
        })
      }),
    )
    const delivered = heads.filter((head) => head.startsWith('HTTP/1.1 200'))
    const size = Number(/content-length: (\d+)/i.exec(delivered[0] ?? '')?.[1])
    expect(size).to.be.within(6e6, 8 * 1024 * 1024)
    expect(delivered).to.have.length(Math.floor(SUM / size))
    expect(heads.filter((head) => head.startsWith('HTTP/1.1 503'))).to.have.length(READERS - delivered.length)
  })
})
