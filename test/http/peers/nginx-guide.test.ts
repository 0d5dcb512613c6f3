import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { type GuideNginx, startGuideNginx } from '../../support/peers/guide-nginx.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { remote } from '../../support/requests/remote.ts'
import { CERTIFICATE } from '../../support/servers/certificate.ts'
import { freePort } from '../../support/servers/free-port.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('nginx as docs/how-to/nginx.md configures it', (start) => {
  let service: Service
  let nginx: GuideNginx
  before(async () => {
    service = await start({ env: { TRUST_PROXY: '1' } })
    nginx = await startGuideNginx([new URL(service.url).host])
  })
  after(() => nginx.stop())

  /** Sends a request through nginx, over TLS. */
  async function ask(
    path: string,
    { method = 'GET', headers = {}, body }: { method?: string; headers?: object; body?: Uint8Array } = {},
  ): Promise<{ status: number | undefined; headers: IncomingMessage['headers']; body: Buffer }> {
    const sent = request({
      host: '127.0.0.1',
      port: nginx.ports.secure,
      path,
      method,
      headers: { ...headers },
      servername: 'secure.test',
      ca: CERTIFICATE.cert,
    })
    sent.end(body)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) }
  }

  it('redirects HTTP to HTTPS', async () => {
    const [answer] = (await once(get(`http://127.0.0.1:${nginx.ports.redirect}/v1/files`), 'response')) as [
      IncomingMessage,
    ]
    answer.resume()
    expect([answer.statusCode, answer.headers.location]).to.deep.equal([301, 'https://127.0.0.1/v1/files'])
  })

  it('passes on uploads above 1 MB, also resumable ones', async () => {
    const Authorization = service.tokens.secretClientToken
    const body = Buffer.alloc(2_000_000, 1)
    expect(await ask('/v1/upload/a.bin', { method: 'PUT', headers: { Authorization }, body })).to.include({
      status: 200,
    })
    const headers = {
      Authorization,
      'Tus-Resumable': '1.0.0',
      'Upload-Length': body.length,
      'Content-Type': 'application/offset+octet-stream',
    }
    expect(await ask('/v1/tus', { method: 'POST', headers, body })).to.include({ status: 201 })
  })

  it('caches a compressed text apart from the text itself', async () => {
    const bytes = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${'<rect/>'.repeat(500)}</svg>`)
    const { src } = await uploadOne(service, { name: 'a.svg', bytes })
    const path = new URL(src).pathname
    const get = (encoding?: string) => ask(path, { headers: encoding ? { 'Accept-Encoding': encoding } : {} })
    for (const cache of ['MISS', 'HIT']) {
      const compressed = await get(cache === 'MISS' ? 'gzip, deflate, br' : 'br;q=1, gzip')
      expect(compressed.headers).to.include({ 'content-encoding': 'br', 'x-cache': cache })
      const plain = await get()
      expect(plain.headers).to.include({ 'x-cache': cache }).and.not.have.property('content-encoding')
      expect(plain.body.equals(bytes)).to.equal(true)
    }
  })

  it('caches one response to f=auto for each format, for any form of the Accept header', async () => {
    const bytes = await picture()
    const { src } = await uploadOne(service, { name: 'a.png', bytes })
    const path = `${src.slice(service.url.length)}?w=300&f=auto`
    const seen: unknown[] = []
    for (const accept of ['image/avif,image/webp,*/*', 'image/webp', '*/*', 'text/html,image/avif', 'x/y']) {
      const { headers } = await ask(path, { headers: { Accept: accept } })
      seen.push([headers['content-type'], headers['x-cache'], headers['content-range']])
    }
    expect(seen).to.deep.equal([
      ['image/avif', 'MISS', undefined],
      ['image/webp', 'MISS', undefined],
      ['image/png', 'MISS', undefined],
      ['image/avif', 'HIT', undefined],
      ['image/png', 'HIT', undefined],
    ])
    expect(await ask(path, { headers: { Range: 'bytes=0-9' } })).to.include({ status: 206 })
  })

  it('sends requests to a restarted process at once, when another one stops', async () => {
    const ports = await Promise.all([freePort(), freePort()])
    const several = await startGuideNginx(ports.map((port) => `127.0.0.1:${port}`))
    const respond = (port: number | undefined) => remote((_, res) => void res.end(), { port: port as number })
    const statuses = async () =>
      [await fetch(several.url), await fetch(several.url)].map(({ status }) => status)
    const first = await respond(ports[0])
    try {
      // The second one refuses connections.
      expect(await statuses()).to.deep.equal([200, 200])
      const second = await respond(ports[1])
      await first.close()
      expect(await statuses()).to.deep.equal([200, 200])
      await second.close()
    } finally {
      await several.stop()
    }
  })
})
