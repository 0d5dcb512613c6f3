import { once } from 'node:events'
import { expect } from 'chai'
import { onEveryBackend } from '../support/backends.ts'
import { uploadOne, type WireRecord } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { openSocket } from '../support/exchange.ts'
import { MULTIPART, multipart } from '../support/multipart.ts'
import type { Service } from '../support/service.ts'

onEveryBackend('the log of requests that are cut', (start) => {
  let service: Service
  let record: WireRecord
  before(async function () {
    this.timeout(30_000)
    service = await start()
    // More than the buffers of a socket take.
    record = await uploadOne(service, { name: 'a.bin', bytes: Buffer.alloc(32_000_000) })
  })

  async function lines(path: string) {
    let found: Service['log']['lines'] = []
    await eventually(() => {
      found = service.log.lines.filter(({ fields }) => fields.path === path)
      expect(found).to.have.length(1)
    })
    return found
  }

  const begun = {
    '/v1/upload': {
      type: MULTIPART,
      body: multipart([{ disposition: 'name="file"; filename="a"', bytes: 'x' }]),
    },
    '/v1/zip': { type: 'application/json', body: Buffer.from('{"files": [{"path": "a.png"}]}') },
  }
  for (const [path, { type, body }] of Object.entries(begun)) {
    it(`has no status when the client was told none: ${path}`, async () => {
      const earlier = service.log.lines.length
      const socket = await openSocket(service)
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${service.tokens.secretClientToken}\r\n` +
          `Content-Type: ${type}\r\nContent-Length: 1000\r\n\r\n`,
      )
      socket.write(body.subarray(0, body.lastIndexOf('x') + 1 || 10))
      setTimeout(() => socket.destroy(), 50)
      await once(socket, 'close')
      await eventually(() => {
        const [line, ...more] = service.log.lines.slice(earlier)
        expect(more).to.deep.equal([])
        expect(line?.level).to.equal('info')
        expect(line?.fields).to.include({ method: 'POST', path, aborted: true, complete: false })
        expect(line?.fields).not.to.have.any.keys('status', 'code')
      })
    })
  }

  it('has the status that was sent when the client leaves during the answer', async () => {
    const path = new URL(record.src).pathname
    const socket = await openSocket(service)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await once(socket, 'data')
    socket.destroy()
    const [line] = await lines(path)
    expect(line?.fields).to.include({ status: 200, complete: false })
    expect(line?.fields).not.to.have.any.keys('aborted', 'code')
  })
})
