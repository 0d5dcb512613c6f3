import { createHmac, randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import sharp from 'sharp'
import { sha256 } from '../../../src/core/bytes/digest.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { colourAt, picture } from '../../support/media/images.ts'
import { type Caller, newClient, uploadOne } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Remote, rawRemote, remote } from '../../support/requests/remote.ts'
import { fetchingFrom, fetchPath, fileServer, keepPath } from '../../support/requests/remote-files.ts'
import type { Service } from '../../support/service.ts'
import { itLong, sized } from '../../support/sized.ts'

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>'
const HTML = '<!doctype html><script>alert(1)</script>'

onOneBackend('a remote image', (start) => {
  let service: Service
  let client: Caller & { id: string }
  let server: Remote
  let raw: Remote
  let speech: string | Buffer = ''
  let png: Buffer
  let large: Buffer
  let half: Buffer
  let waiting: ServerResponse[] = []

  before(async () => {
    png = await picture({ width: 80, height: 60 })
    half = (await picture({ format: 'jpeg' })).subarray(0, 1200)
    // 9 MB, more than is answered from memory.
    large = await sharp(randomBytes(1750 * 1750 * 3), { raw: { width: 1750, height: 1750, channels: 3 } })
      .png({ compressionLevel: 1 })
      .toBuffer()
    server = await fileServer({
      '/a.png': (_req, res) => {
        res.setHeader('Set-Cookie', 'theirs=1')
        res.setHeader('Cache-Control', 'private')
        res.setHeader('Last-Modified', 'Wed, 01 Jan 2020 00:00:00 GMT')
        res.setHeader('Content-Type', 'text/html')
        res.end(png)
      },
      '/large.png': large,
      '/vector.svg': SVG,
      '/page.png': (_req, res) => void res.writeHead(200, { 'Content-Type': 'image/png' }).end(HTML),
      '/cut.png': png.subarray(0, 50),
      '/half.jpg': half,
      '/empty.png': '',
      '/too-large.png': Buffer.concat([png, Buffer.alloc(20_000_000)]),
      '/moved': (_req, res) => void res.writeHead(301, { Location: '/a.png' }).end(),
      '/waits': (_req, res) => void waiting.push(res),
    })
    raw = await rawRemote((socket) => socket.end(speech))
    service = await start({
      env: {
        ...fetchingFrom(server, raw),
        FETCH_RATE_LIMIT: '0',
        FETCH_RATE_LIMIT_PER_IP: '0',
        IMAGE_MAX_BYTES: '15000000',
      },
    })
    client = await newClient(service)
    await service.app.clients.setRules(client.id, { fetchHosts: ['127.0.0.1'] })
  })
  beforeEach(() => {
    waiting = []
  })
  after(async () => {
    await server.close()
    await raw.close()
  })

  const temporary = () => readdir(join(service.dataDir, 'media')).catch(() => [])
  const get = (url: string, query = '', call: Parameters<typeof exchange>[2] = {}): Promise<Answer> =>
    exchange(service, fetchPath(client, url, { query }), call)
  /** Waits until so many requests have arrived. What follows until they join a fetch takes no request of its own. */
  async function joined(count: number): Promise<void> {
    await eventually(() => expect(service.arrived()).to.equal(count))
    await pause(50)
  }
  afterEach('nothing is left', () => eventually(async () => expect(await temporary()).to.deep.equal([])))

  it('is delivered unchanged, with the headers of any delivery and none of the remote server', async () => {
    const { status, headers, body } = await get(server.url('/a.png'))
    expect(status).to.equal(200)
    expect(body.equals(png)).to.equal(true)
    expect(headers).to.include({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=604800',
      etag: `"fetch/${sha256(png)}"`,
      'last-modified': 'Wed, 01 Jan 2020 00:00:00 GMT',
      'accept-ranges': 'bytes',
      'content-length': String(png.length),
      'content-range': `bytes 0 - ${png.length}`,
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    })
    expect(headers).not.to.have.property('set-cookie')
  })

  it('is transformed with the same parameters, and has its own ETag', async () => {
    const { status, headers, body } = await get(server.url('/a.png'), '?h=20&w=40&f=webp&flop&v=3')
    expect(status).to.equal(200)
    expect(headers['content-type']).to.equal('image/webp')
    expect(headers.etag).to.equal(`"fetch/${sha256(png)}_f=webp&flop=1&h=20&w=40"`)
    expect(await sharp(body).metadata()).to.include({ format: 'webp', width: 40, height: 20 })
    expect((await colourAt(body, 2, 2)).g).to.be.above(200)
    const avif = await get(server.url('/a.png'), '?w=40&f=auto', { headers: { Accept: 'image/webp' } })
    expect(avif.headers).to.include({ 'content-type': 'image/webp', vary: 'Accept' })
  })

  it('is not stored', async () => {
    const before = await service.objects()
    for (const query of ['', '?w=30', '?f=jpeg'])
      expect((await get(server.url('/a.png'), query)).status).to.equal(200)
    expect(await service.objects()).to.deep.equal(before)
  })

  it('is fetched again by each request, so that a change is visible', async () => {
    const made = server.requests.length
    await get(server.url('/a.png'), '?w=30')
    await get(server.url('/a.png'), '?w=30')
    expect(server.requests.length - made).to.equal(2)
  })

  it('is fetched once for equal concurrent requests', async () => {
    const made = server.requests.length
    const earlier = service.arrived()
    const asked = Array.from({ length: 20 }, (_, i) => get(server.url('/waits'), i % 2 ? '?w=30' : '?w=31'))
    await eventually(() => expect(waiting).to.have.length(2))
    // Those that come late join as well.
    asked.push(get(server.url('/waits'), '?w=30'))
    await joined(earlier + 21)
    for (const res of waiting) res.end(png)
    for (const { status, body } of await Promise.all(asked)) {
      expect(status).to.equal(200)
      expect((await sharp(body).metadata()).width).to.be.oneOf([30, 31])
    }
    expect(server.requests.length - made).to.equal(2)
  })

  it('fails for all of them, and is fetched again by the next request', async () => {
    const earlier = service.arrived()
    const asked = [get(server.url('/waits')), get(server.url('/waits'))]
    await eventually(() => expect(waiting).to.have.length(1))
    await joined(earlier + 2)
    waiting[0]?.writeHead(500).end()
    for (const { status } of await Promise.all(asked)) expect(status).to.equal(502)
    const next = get(server.url('/waits'))
    await eventually(() => expect(waiting).to.have.length(2))
    waiting[1]?.end(png)
    expect((await next).status).to.equal(200)
  })

  it('is aborted when the last client disconnects, not the first', async () => {
    const [first, second] = [new AbortController(), new AbortController()]
    const earlier = service.arrived()
    const left = get(server.url('/waits'), '', { signal: first.signal }).catch(() => 'left')
    const stays = get(server.url('/waits'), '', { signal: second.signal }).catch(() => 'left')
    await eventually(() => expect(waiting).to.have.length(1))
    await joined(earlier + 2)
    first.abort()
    expect(await left).to.equal('left')
    await pause(50)
    expect(waiting[0]?.destroyed).to.equal(false)
    second.abort()
    expect(await stays).to.equal('left')
    await eventually(() => expect(waiting[0]?.destroyed).to.equal(true))
  })

  const sizes = { fits: { query: '?negate&f=tiff&lossless&w=200', above: 1000 } }
  const tooLarge = { 'does not fit': { query: '?negate&f=tiff&lossless', above: 8_500_000 } }
  for (const [how, { query, above }] of Object.entries(sized(sizes, { ...sizes, ...tooLarge })))
    it(`supports HEAD, ranges and conditional requests when it ${how} in memory`, async () => {
      const url = server.url('/large.png')
      const whole = await get(url, query)
      expect(whole.status).to.equal(200)
      expect(whole.body.length).to.be.above(above)
      const head = await get(url, query, { method: 'HEAD' })
      expect(head.headers).to.include({
        'content-length': String(whole.body.length),
        etag: whole.headers.etag,
      })
      const part = await get(url, query, {
        headers: { Range: 'bytes=1000-1999', 'If-Range': String(whole.headers.etag) },
      })
      expect(part.status).to.equal(206)
      expect(part.body.equals(whole.body.subarray(1000, 2000))).to.equal(true)
      const known = await get(url, query, {
        headers: { 'If-None-Match': String(whole.headers.etag) },
      })
      expect(known.status).to.equal(304)
      const source = await get(url, '', { headers: { Range: 'bytes=-10' } })
      expect(source.body.equals(large.subarray(-10))).to.equal(true)
      expect((await get(url, '', { headers: { Range: 'bytes=99999999-' } })).status).to.equal(416)
    })

  it('can be downloaded, by its own name or another', async () => {
    const saved = await get(server.url('/a.png'), '?download&f=webp&w=10')
    expect(saved.headers['content-disposition']).to.include('a.webp')
    const named = await get(server.url('/a.png'), '?download=b.png')
    expect(named.headers['content-disposition']).to.include('b.png')
  })

  it('is sandboxed when it is an SVG', async () => {
    const { status, headers } = await get(server.url('/vector.svg'))
    expect(status).to.equal(200)
    expect(headers['content-type']).to.match(/^image\/svg\+xml/)
    expect(headers['content-security-policy']).to.include('sandbox')
  })

  itLong('can have a watermark of the client', async () => {
    const { sourceName } = await uploadOne(client, {
      name: 'm.png',
      bytes: await picture({ width: 10, height: 10 }),
    })
    const marked = await get(server.url('/a.png'), `?wm=${sourceName}`)
    expect(marked.status).to.equal(200)
    const other = await uploadOne(service, { name: 'm.png', bytes: png })
    const answer = await get(server.url('/a.png'), `?wm=${other.sourceName}`)
    expect(jsonOf(answer)).to.include({ status: 404, code: 'asset_not_found' })
  })

  it('is requested with the URL decoded once', async () => {
    for (const path of ['/x%20y', '/100%25', '/a%2Fb?c=%26&d=1+2', '/?u=http://e.test/%3Fw=3', '/%C3%BC']) {
      await get(server.url(path), '?w=20')
      expect(server.requests.at(-1)?.url, path).to.equal(path)
    }
    await get(`${server.url('/a b/ü')}#part`)
    expect(server.requests.at(-1)?.url).to.equal('/a%20b/%C3%BC')
  })

  it('has only the host of its URL in the log', async () => {
    await get(server.url('/deep/secret-path?signature=s3cr3t'))
    await exchange(
      service,
      `/v1/image/fetch/${client.tokens.clientToken}/${server.url('/secret-path?signature=s3cr3t')}`,
    )
    await get('http://user:s3cr3t@example.com/')
    await get('not a url s3cr3t')
    await eventually(() =>
      expect(JSON.stringify(service.log.lines)).to.include(encodeURIComponent('http://example.com')),
    )
    const text = JSON.stringify(service.log.lines)
    expect(text).to.include(
      `/v1/image/fetch/${client.tokens.clientToken}/${encodeURIComponent(server.url('').replace(/\/$/, ''))}…`,
    )
    for (const word of ['s3cr3t', 'secret-path']) expect(text).not.to.include(word)
  })

  const refusals: Array<[what: string, path: string, query: string, status: number, code: string]> = [
    ['that is not there', '/none', '', 404, 'remote_not_found'],
    ['that is an HTML page, whatever its Content-Type is', '/page.png', '', 422, 'wrong_type'],
    ['that is empty', '/empty.png', '', 422, 'wrong_type'],
    ['that is too large', '/too-large.png', '', 413, 'too_large'],
    ['that is broken', '/cut.png', '?w=20', 422, 'not_transformable'],
    ['for a bad parameter', '/a.png', '?w=0', 400, 'bad_parameter'],
    ['for an unknown parameter', '/a.png', '?wdith=3', 400, 'unknown_parameter'],
    ['for one of a video', '/a.png', '?hls', 400, 'unknown_parameter'],
    ['for several names to save it by', '/a.png', '?download=a&download=b', 400, 'bad_parameter'],
  ]
  itLong('is rendered as far as it goes when its file is truncated, with X-Sluice-Transform', async () => {
    const { status, headers } = await get(server.url('/half.jpg'), '?w=20')
    expect([status, headers['x-sluice-transform']]).to.deep.equal([200, 'truncated original'])
    expect((await get(server.url('/half.jpg'))).headers).to.not.have.property('x-sluice-transform')
  })

  for (const [what, path, query, status, code] of refusals) {
    it(`is refused ${what}: ${status} ${code}`, async () => {
      const answer = await get(server.url(path), query)
      expect(jsonOf(answer)).to.include({ status, code })
      expect(answer.headers).to.include({ 'cache-control': 'no-store', 'access-control-allow-origin': '*' })
      expect(answer.headers).not.to.have.property('etag')
    })
  }

  itLong('times out after FETCH_TIMEOUT_SECONDS', async () => {
    const hasty = await start({ env: { ...fetchingFrom(server), FETCH_TIMEOUT_SECONDS: '1' } })
    await hasty.app.clients.setRules('first', { fetchHosts: 'any' })
    const began = Date.now()
    const answer = await exchange(hasty, fetchPath(hasty, server.url('/waits')))
    expect(Date.now() - began).to.be.at.least(900)
    expect(jsonOf(answer)).to.include({ status: 504, code: 'remote_timeout' })
    expect(answer.headers['cache-control']).to.equal('no-store')
  })

  it('is refused when its body is truncated', async () => {
    speech = Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${png.length + 1}\r\n\r\n`), png])
    const answer = await get(raw.url('/a.png'), '?w=20')
    expect(jsonOf(answer)).to.include({ status: 502, code: 'remote_failed' })
    const lines = () => service.log.lines.filter(({ fields }) => fields.code === 'remote_failed')
    await eventually(() => expect(lines()).to.have.length(2))
    const told = lines()
    // The line of the request itself, and one more, without a stack.
    expect(told.map(({ level, message }) => [level, message]).sort()).to.deep.equal([
      ['info', 'request'],
      ['warn', 'a remote server failed'],
    ])
    for (const { fields } of told) expect(fields).to.not.have.property('err')
    expect(told.find(({ level }) => level === 'warn')?.fields.reason).to.match(/^the remote server .{1,300}$/)
  })

  it('is not read further when a parameter is refused', async () => {
    let sent = 0
    const endless = await remote((_req, res) => {
      const piece = Buffer.concat([png, Buffer.alloc(50_000)])
      const write = () => {
        if (res.destroyed || sent > 14_000_000) return
        sent += piece.length
        res.write(piece, () => setTimeout(write, 5))
      }
      write()
    })
    const own = await start({ env: fetchingFrom(endless) })
    const mine = await newClient(own)
    await own.app.clients.setRules(mine.id, { fetchHosts: 'any' })
    const answer = await exchange(own, fetchPath(mine, endless.url('/'), { query: '?w=0' }))
    expect(answer.status).to.equal(400)
    await eventually(() => expect(endless.connections.open).to.equal(0))
    expect(sent).to.be.below(5_000_000)
    await endless.close()
  })

  it('accepts presets only with presetsOnly', async () => {
    const mine = await newClient(service)
    await service.app.clients.setRules(mine.id, { fetchHosts: 'any', presetsOnly: true })
    const status = async (query: string) =>
      (await exchange(service, fetchPath(mine, server.url('/a.png'), { query }))).status
    expect(await status('?w=20')).to.equal(403)
    expect(await status('?preset=thumbnail')).to.equal(200)
  })

  it('is refused until the operator allows hosts', async () => {
    const made = server.connections.made
    const mine = await newClient(service)
    const answer = await exchange(service, fetchPath(mine, server.url('/a.png')))
    expect(jsonOf(answer)).to.include({ status: 403, code: 'fetch_not_allowed' })
    for (const [rules, status] of [
      [{ fetchHosts: [] }, 403],
      [{ fetchHosts: ['example.com'] }, 400],
      [{ fetchHosts: 'any', fetchDenyHosts: ['127.0.0.1'] }, 400],
    ] as const) {
      await service.app.clients.setRules(mine.id, rules)
      expect((await exchange(service, fetchPath(mine, server.url('/a.png')))).status).to.equal(status)
    }
    expect(server.connections.made).to.equal(made)
    await service.app.clients.setRules(mine.id, { fetchHosts: 'any', fetchDenyHosts: false })
    expect((await exchange(service, fetchPath(mine, server.url('/a.png')))).status).to.equal(200)
  })

  it('requires a signed URL for a client with signedUrls, stored or not', async () => {
    const mine = await newClient(service)
    const { key, version } = (await service.app.clients.addUrlKey(mine.id)).urlKey
    await service.app.clients.setRules(mine.id, { fetchHosts: 'any', signedUrls: true })
    const exp = Math.floor(Date.now() / 1000) + 100
    for (const path of [fetchPath, keepPath]) {
      const unsigned = path(mine, server.url('/a.png'), { query: `?w=20&exp=${exp}` })
      const url = `${unsigned}&s=${version}.${createHmac('sha256', key).update(unsigned).digest('base64url')}`
      const plain = path(mine, server.url('/a.png'), { query: '?w=20' })
      expect(jsonOf(await exchange(service, plain))).to.include({ status: 403, code: 'url_unsigned' })
      expect(jsonOf(await exchange(service, url.replace('a.png', 'b.png'))).code).to.equal('url_invalid')
      const { status, headers } = await exchange(service, url)
      expect(status).to.equal(200)
      expect(headers['cache-control']).to.match(/^private, max-age=(100|9\d)$/)
    }
  })

  const token = () => client.tokens.clientToken
  const encoded = encodeURIComponent('http://example.com/a.png')
  const paths: Array<[what: string, path: () => string, status: number, code: string]> = [
    ['another type', () => `/v1/video/fetch/${token()}/${encoded}`, 400, 'only_pictures'],
    ['what is no type', () => `/v1/picture/fetch/${token()}/${encoded}`, 404, 'route_not_found'],
    ['nobody’s token', () => `/v1/image/fetch/pub_nobody/${encoded}`, 404, 'client_not_found'],
    ['no URL', () => `/v1/image/fetch/${token()}/`, 404, 'route_not_found'],
    [
      'a URL that is not encoded',
      () => `/v1/image/fetch/${token()}/http://example.com/a.png`,
      400,
      'url_not_allowed',
    ],
    [
      'a URL encoded twice',
      () => `/v1/image/fetch/${token()}/${encodeURIComponent(encoded)}`,
      400,
      'url_not_allowed',
    ],
    ['bad encoding', () => `/v1/image/fetch/${token()}/http%3A%2F%2F%zz`, 400, 'bad_request'],
    [
      'a URL of 2001 characters',
      () => `/v1/image/fetch/${token()}/${encodeURIComponent(`http://e.test/${'a'.repeat(1987)}`)}`,
      400,
      'url_not_allowed',
    ],
  ]
  for (const [what, path, status, code] of paths) {
    it(`responds to ${what} with ${status} ${code}`, async () => {
      expect(jsonOf(await exchange(service, path()))).to.include({ status, code })
    })
  }

  it('responds 405 to methods that change something', async () => {
    const path = fetchPath(client, server.url('/a.png'))
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const { status, headers } = await exchange(service, path, { method })
      expect(status, method).to.equal(405)
      expect(headers.allow).to.equal('GET, HEAD, OPTIONS')
    }
    expect((await exchange(service, path, { method: 'OPTIONS' })).status).to.equal(204)
  })

  it('passes on no header of the caller', async () => {
    await get(server.url('/a.png'), '', {
      headers: {
        Authorization: service.tokens.secretClientToken,
        Cookie: 'a=b',
        Referer: 'http://x/',
        Range: 'bytes=0-1',
      },
    })
    const sent = server.requests.at(-1)
    expect(Object.keys(sent?.headers ?? {}).sort()).to.deep.equal([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ])
  })
})
