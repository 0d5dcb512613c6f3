import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { EMBEDDED } from '../../support/backend.ts'
import { S3_REDIS } from '../../support/backends.ts'
import { eventually, SLOWNESS } from '../../support/eventually.ts'
import { entriesOf, manifestOf } from '../../support/requests/archive.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type S3Proxy, s3Proxy } from '../../support/servers/s3-proxy.ts'
import { s3Server } from '../../support/servers/s3-server.ts'
import { type Service, startService } from '../../support/service.ts'
import { itLong, sized } from '../../support/sized.ts'
import { breakable } from '../../support/stored/breakable.ts'
import { noise } from '../../support/stored/noise.ts'

const MIB = 1024 * 1024
const FILES = sized(12, 100)
// More than is read ahead.
const FILE = noise(MIB + 100_000)
const BYTES_PER_SECOND = 10 * 1024
// Longer than a source stays open for a client that does not read.
const SLOW_MS = 9000 * SLOWNESS

for (const backend of [EMBEDDED, S3_REDIS]) {
  describe(`archives for slow clients (${backend.name})`, () => {
    const source = breakable()
    let proxy: S3Proxy | undefined
    let service: Service
    let record: WireRecord
    before(async () => {
      if (backend === S3_REDIS) proxy = await s3Proxy((await s3Server()).connection.endpoint)
      service = await startService({
        backend,
        wrapStorage: source.wrapStorage,
        env: proxy ? { AWS_ENDPOINT_URL_S3: proxy.endpoint } : {},
      })
      record = await uploadOne(service, { name: 'large.bin', bytes: FILE })
    })
    after(async () => {
      await service.stop()
      await proxy?.close()
    })
    afterEach(() => proxy?.decide(() => undefined))

    async function askFor(count: number): Promise<IncomingMessage> {
      const files = Array.from({ length: count }, (_, i) => ({
        path: record.sourceName,
        type: 'application',
        name: `${i}.bin`,
      }))
      const sent = request(`${service.url}/v1/zip`, {
        method: 'POST',
        headers: { Authorization: service.tokens.secretClientToken, 'Content-Type': 'application/json' },
      })
      sent.on('error', () => {}).end(JSON.stringify({ files }))
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      return response
    }

    const itTried = backend === S3_REDIS ? it : itLong
    itTried('lose no file of many at 10 KB/s, and keep none open that they do not read', async () => {
      // A store that closes connections at once when nobody reads from them.
      proxy?.decide(({ method }) =>
        method === 'GET' ? { kind: 'pass', received: { idleMs: 1000 } } : undefined,
      )
      const response = await askFor(FILES)
      const fast = Date.now() + SLOW_MS
      const chunks: Buffer[] = []
      let most = 0
      const counting = setInterval(() => {
        most = Math.max(most, source.open)
      }, 5)
      let isClosed = false
      for await (const chunk of response as AsyncIterable<Buffer>) {
        chunks.push(chunk)
        const slowFor = Math.min((chunk.length / BYTES_PER_SECOND) * 1000, fast - Date.now())
        if (slowFor <= 0) continue
        await pause(slowFor)
        // In all this time, the first file is not sent to its end.
        isClosed ||= source.open === 0
      }
      clearInterval(counting)
      expect(isClosed, 'closed while the client was slow').to.equal(true)
      expect(most, 'open at a time').to.equal(1)
      const entries = entriesOf(Buffer.concat(chunks))
      expect(entries).to.have.length(FILES + 1)
      expect(manifestOf(entries).every(({ status }) => status === 'ok')).to.equal(true)
      const digests = new Set(entries.slice(0, FILES).map(({ bytes }) => digestOf(bytes)))
      expect([...digests]).to.deep.equal([digestOf(FILE)])
    })

    if (backend !== S3_REDIS) return
    it('stop all work within a second when the client disconnects while a source is silent', async () => {
      if (!proxy) throw new Error('there is no proxy')
      const { connections } = proxy
      proxy.decide(({ method }) =>
        method === 'GET' ? { kind: 'pass', received: { afterBytes: MIB, by: 'stall' } } : undefined,
      )
      const response = await askFor(FILES)
      response.resume().on('error', () => {})
      await eventually(() => expect(source.open).to.equal(1))
      await pause(300)
      const seen = proxy.seen.length
      response.destroy()
      await eventually(() => expect(source.open).to.equal(0))
      const left = await connections()
      await pause(500)
      expect(await connections()).to.be.at.most(left)
      expect(proxy.seen).to.have.length(seen)
    })
  })
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
