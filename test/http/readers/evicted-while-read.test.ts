import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { NO_LIMITS } from '../../support/no-limits.ts'
import { uploadOne } from '../../support/requests/client.ts'

// Its PNG has some 7 MB: more than lies between a server and a client that does not read, less than the 8 MB that are answered from memory.
const NOISE = { type: 'gaussian', mean: 128, sigma: 40 } as const
const SIZE = { width: 1900, height: 1300 }

onOneBackend('a derivative that is evicted while a client reads it', (start) => {
  it('aborts the response: the client never takes a partial file for the complete one', async () => {
    const service = await start({ env: { ...NO_LIMITS, VARIANT_LIMIT: '1' } })
    const bytes = await sharp({ create: { ...SIZE, channels: 3, background: '#888', noise: NOISE } })
      .jpeg({ quality: 92 })
      .toBuffer()
    const { src } = await uploadOne(service, { name: 'noise.jpg', bytes })
    const url = `${service.url}${new URL(src).pathname}`

    // A connection that is kept: the end of an answer does not close it.
    const agent = new Agent({ keepAlive: true })
    const request = get(`${url}?f=png&lossless`, { agent })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    let failure: NodeJS.ErrnoException | undefined
    for (const one of [request, response])
      one.on('error', (error) => {
        failure ??= error
      })
    const announced = Number(response.headers['content-length'])
    expect(announced).to.be.within(5_000_000, 8_000_000)
    // Not read: the kernel takes its part, the rest waits in the server. Once it is stored, another one takes its place.
    await pause(500)
    await eventually(async () => {
      expect((await fetch(`${url}?w=10`)).headers.get('cache-control')).to.match(/max-age=604800/)
    })

    let received = 0
    response.on('data', (chunk: Buffer) => {
      received += chunk.length
    })
    await new Promise((closed) => response.once('close', closed))
    expect(failure).to.have.property('code', 'ECONNRESET')
    expect(received).to.be.below(announced)
    expect(response.complete).to.equal(false)
  })
})
