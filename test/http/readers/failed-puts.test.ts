import type { Socket } from 'node:net'
import { expect } from 'chai'
import sharp from 'sharp'
import { unavailable } from '../../../src/core/problem.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { openSocket, received } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'

const SUM = 64 * 1024 * 1024
const READERS = 12

/** A picture that cannot be compressed: its PNGs are larger than the system takes for a client that does not read. */
async function noise(side: number): Promise<Buffer> {
  const pixels = { type: 'gaussian', mean: 128, sigma: 80 } as const
  const create = { width: side, height: side, channels: 3, background: '#888', noise: pixels } as const
  return sharp({ create }).png({ compressionLevel: 1 }).toBuffer()
}

describe('slow readers of a derivative whose put fails', () => {
  let service: Service
  let src: string
  let failPut = () => {}
  const sockets: Socket[] = []
  before(async () => {
    const failed = new Promise<void>((resolve) => {
      failPut = resolve
    })
    const wrapStorage = wrapBuckets((bucket) => ({
      async put(key, bytes, options) {
        if (!key.includes('_')) return bucket.put(key, bytes, options)
        bytes.destroy()
        await failed
        throw unavailable('the bucket is away')
      },
    }))
    service = await startService({ wrapStorage, env: { CONNECTIONS_PER_ADDRESS: '0' } })
    src = (await uploadOne(service, { name: 'a.png', bytes: await noise(1650) })).src
  })
  after(async () => {
    for (const socket of sockets) socket.destroy()
    await service.stop()
  })

  /** Begins to read an answer, and stops. */
  async function begin(): Promise<Socket> {
    const socket = await openSocket(service)
    sockets.push(socket)
    socket.write(`GET ${new URL(src).pathname}?w=1600 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    await new Promise<void>((resolve) => {
      socket.once('data', (chunk) => {
        socket.pause().unshift(chunk)
        resolve()
      })
    })
    return socket
  }

  itLong(
    'get all of it while their bytes fit into 64 MiB together; the others are disconnected',
    async () => {
      const readers = await Promise.all(Array.from({ length: READERS }, begin))
      failPut()
      // Its end is logged when the bytes count.
      while (!service.log.lines.some(({ message }) => message.includes('was sent but not stored')))
        await new Promise((resolve) => setTimeout(resolve, 10))
      const answers = await Promise.all(readers.map((socket) => received(socket.resume())))
      const size = Number(/content-length: (\d+)/i.exec(answers[0] ?? '')?.[1])
      expect(size).to.be.within(6e6, 8 * 1024 * 1024)
      const complete = answers.filter((answer) => answer.length - answer.indexOf('\r\n\r\n') - 4 === size)
      expect(complete).to.have.length(Math.floor(SUM / size))
      // Those who have come to their end are not counted any more.
      const again = await received((await begin()).resume())
      expect(again.length).to.be.above(size)
    },
  )
})
