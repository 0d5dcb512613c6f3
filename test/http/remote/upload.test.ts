import { expect } from 'chai'
import type { SecretScope } from '../../../src/core/clients/secret-scope.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { newClient, rawPath, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Remote, rawRemote } from '../../support/requests/remote.ts'
import { fetchingFrom, fileServer, postUrl } from '../../support/requests/remote-files.ts'
import type { Service } from '../../support/service.ts'

const NAMED = (disposition: string) => (_req: unknown, res: import('node:http').ServerResponse) =>
  res.writeHead(200, { 'Content-Disposition': disposition }).end('named')

onOneBackend('upload by URL', (start) => {
  let service: Service
  let server: Remote
  let raw: Remote
  let speech = ''
  let png: Buffer
  before(async () => {
    png = await picture()
    server = await fileServer({
      '/photos/a%20b.png': png,
      '/lies.png': (_req, res) => {
        res.writeHead(200, { 'Content-Type': 'image/png' }).end('<!doctype html><title>a page</title>')
      },
      '/empty': '',
      '/named': NAMED('attachment; filename="of the header.txt"'),
      '/named-in-utf-8': NAMED("attachment; filename=x.txt; filename*=UTF-8''%C3%BCber.txt"),
      '/named-in-raw-utf-8': NAMED(Buffer.from('attachment; filename="Łódź 写.txt"').toString('latin1')),
      '/named-oddly': NAMED('attachment; filename="../../etc/passwd'),
      '/named-as-path': NAMED('inline; filename="../../etc/passwd"'),
      '/moved': (_req, res) => void res.writeHead(302, { Location: '/photos/a%20b.png' }).end(),
      ...Object.fromEntries(
        [204, 206, 304, 400, 401, 403, 410, 429, 500, 503].map((status) => [
          `/${status}`,
          (_req: unknown, res: import('node:http').ServerResponse) => void res.writeHead(status).end(),
        ]),
      ),
    })
    raw = await rawRemote((socket) => socket.end(speech))
    service = await start({
      env: {
        ...fetchingFrom(server, raw),
        FETCH_RATE_LIMIT: '0',
        FETCH_RATE_LIMIT_PER_IP: '0',
        UPLOAD_MAX_BYTES: '100000',
      },
    })
  })
  after(async () => {
    await server.close()
    await raw.close()
  })

  const store = async (body: unknown) => {
    const response = await postUrl(service, body)
    expect(response.status, await response.clone().text()).to.equal(200)
    const records = (await response.json()) as WireRecord[]
    expect(records).to.have.length(1)
    return records[0] as WireRecord
  }
  const refused = async (body: unknown) => {
    const before = await service.objects()
    const response = await postUrl(service, body)
    expect(await service.objects()).to.deep.equal(before)
    return { status: response.status, ...((await response.json()) as { code: string }) }
  }

  it('returns the record of an upload, and the file is delivered unchanged', async () => {
    const record = await store({ url: server.url('/photos/a%20b.png') })
    expect(record).to.include({ originalName: 'a b.png', mimeType: 'image', format: 'png', size: png.length })
    expect(record.options).to.deep.equal({})
    const { body, headers } = await exchange(service, record.src)
    expect(body.equals(png)).to.equal(true)
    expect(headers['content-type']).to.equal('image/png')
    expect((await exchange(service, rawPath(service, record.s3Path))).body.equals(png)).to.equal(true)
  })

  it('is stored by POST /v1/upload as well, as before there was a route for it', async () => {
    const { body, status } = await ask(service, '/v1/upload', {
      method: 'POST',
      json: { url: server.url('/photos/a%20b.png') },
    })
    expect(status).to.equal(200)
    expect(body).to.have.nested.property('[0].originalName', 'a b.png')
  })

  it('accepts folder, name, info and transforms as members', async () => {
    const record = await store({
      url: server.url('/photos/a%20b.png'),
      path: 'from/afar',
      name: 'mine.png',
      info: true,
      transforms: ['w=20'],
    })
    expect(record.s3PathOriginal).to.match(/^from\/afar\/image\/png\//)
    expect(record.originalName).to.equal('mine.png')
    expect(record.options).to.have.nested.property('info.width')
    expect(record.options)
      .to.have.nested.property('transforms[0].key')
      .that.matches(/_w=20$/)
    // It is made in the background, and would come into the tests after this one.
    await eventually(async () => {
      const names = await service.objects()
      expect(names.some((name) => name.endsWith(`${record.sourceName}_w=20`))).to.equal(true)
    })
    const response = await postUrl(service, { url: server.url('/named') }, { query: '?path=by/query' })
    const [other] = (await response.json()) as WireRecord[]
    expect(other?.s3PathOriginal).to.match(/^by\/query\//)
  })

  for (const [path, name] of [
    ['/named', 'of the header.txt'],
    ['/named-in-utf-8', 'über.txt'],
    ['/named-in-raw-utf-8', 'Łódź 写.txt'],
    ['/named-oddly', 'named-oddly'],
    ['/named-as-path', 'passwd'],
    ['/moved', 'a b.png'],
  ] as const) {
    it(`names the file of ${path} ${name}`, async () => {
      expect((await store({ url: server.url(path) })).originalName).to.equal(name)
    })
  }

  it('stores a file without bytes', async () => {
    expect(await store({ url: server.url('/empty') })).to.include({ size: 0, format: 'bin' })
  })

  it('detects the type from the bytes, not from Content-Type', async () => {
    const record = await store({ url: server.url('/lies.png') })
    expect(record).to.include({ mimeType: 'text', format: 'html' })
  })

  for (const [path, status, code] of [
    ['/none', 404, 'remote_not_found'],
    ['/410', 404, 'remote_not_found'],
    ...([204, 206, 304, 400, 401, 403, 429, 500, 503] as const).map(
      (status) => [`/${status}`, 502, 'remote_status'] as const,
    ),
  ] as const) {
    it(`stores nothing of ${path}: ${status} ${code}`, async () => {
      expect(await refused({ url: server.url(path) })).to.include({ status, code })
    })
  }

  for (const [what, answer, status, code] of [
    [
      'truncated before its Content-Length',
      'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nonly this',
      502,
      'remote_failed',
    ],
    [
      'truncated within a chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n400\r\nonly this',
      502,
      'remote_failed',
    ],
    [
      'truncated between chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nonly\r\n',
      502,
      'remote_failed',
    ],
    ['too long by its length', 'HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n', 413, 'too_large'],
    ['too long', `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(100_001)}`, 413, 'too_large'],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 502, 'remote_failed'],
  ] as const) {
    it(`stores nothing of a body that is ${what}: ${status} ${code}`, async () => {
      speech = answer
      expect(await refused({ url: raw.url('/x.txt') })).to.include({ status, code })
    })
  }

  for (const [what, body, code, param] of [
    ['no JSON', '{"url":', 'bad_json', undefined],
    ['no object', '[]', 'bad_parameter', 'the body'],
    ['no url', {}, 'bad_parameter', 'url'],
    ['a url that is a number', { url: 1 }, 'bad_parameter', 'url'],
    ['an unknown member', { url: 'http://example.com/', tag: 'a' }, 'bad_parameter', undefined],
    ['an empty name', { url: 'http://example.com/', name: '' }, 'bad_parameter', 'name'],
    ['a folder above', { url: 'http://example.com/', path: '../a' }, 'bad_path', 'path'],
    ['invalid transforms', { url: 'http://example.com/', transforms: 'w=3' }, 'bad_parameter', 'transforms'],
    ['info that is no boolean', { url: 'http://example.com/', info: '1' }, 'bad_parameter', 'info'],
  ] as const) {
    it(`refuses ${what} without a fetch`, async () => {
      const made = server.connections.made
      const answer = await refused(body)
      expect(answer).to.include({ status: 400, code })
      if (param) expect(answer).to.include({ param })
      expect(server.connections.made).to.equal(made)
    })
  }

  it('refuses a transformation that the file does not support, and stores nothing', async () => {
    const answer = await refused({ url: server.url('/named'), transforms: ['hls'] })
    expect(answer).to.include({ status: 400 })
  })

  it('requires a secret that may upload', async () => {
    const body = { url: server.url('/named') }
    for (const secret of ['', 'sec_wrong'])
      expect((await postUrl(service, body, { secret })).status).to.equal(401)
    const secretFor = async (scope: SecretScope) =>
      (await service.app.clients.addSecret('first', { scope })).secret
    const reading = await postUrl(service, body, { secret: await secretFor({ only: 'read' }) })
    expect(reading.status).to.equal(403)
    const secret = await secretFor({ only: 'upload', folder: 'in/here' })
    for (const path of ['elsewhere', 'in'])
      expect((await postUrl(service, { ...body, path }, { secret })).status).to.equal(403)
    const [record] = (await (await postUrl(service, body, { secret })).json()) as WireRecord[]
    expect(record?.s3PathOriginal).to.match(/^in\/here\//)
  })

  it('applies the fetchHosts of the client, and allows any host without one', async () => {
    const client = await newClient(service)
    const status = async () => (await postUrl(client, { url: server.url('/named') })).status
    expect(await status()).to.equal(200)
    for (const [rules, expected] of [
      [{ fetchHosts: ['127.0.0.1'] }, 200],
      [{ fetchHosts: ['example.com'] }, 400],
      [{ fetchHosts: [] }, 403],
      [{ fetchHosts: 'any' }, 200],
      [{ fetchDenyHosts: ['127.0.0.1'] }, 400],
      [{ fetchHosts: false, fetchDenyHosts: ['127.0.0.1'] }, 400],
      [{ fetchHosts: false, fetchDenyHosts: false }, 200],
    ] as const) {
      await service.app.clients.setRules(client.id, rules)
      expect(await status(), JSON.stringify(rules)).to.equal(expected)
    }
  })

  it('passes on no header of the caller', async () => {
    await fetch(`${service.url}/v1/upload`, {
      method: 'POST',
      headers: {
        Authorization: service.tokens.secretClientToken,
        'Content-Type': 'application/json',
        Cookie: 'a=b',
        'X-Forwarded-For': '1.2.3.4',
        Referer: 'http://x/',
      },
      body: JSON.stringify({ url: server.url('/named') }),
    })
    const { headers } = server.requests.at(-1) as import('node:http').IncomingMessage
    expect(Object.keys(headers).sort()).to.deep.equal([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ])
  })
})

onOneBackend('the rate limit of fetches', (start) => {
  it('counts uploads by URL as fetches, by client and address', async () => {
    const server = await fileServer({ '/a': 'a' })
    const service = await start({
      env: {
        ...fetchingFrom(server),
        FETCH_RATE_LIMIT: '2',
        FETCH_RATE_LIMIT_PER_IP: '0',
        FETCH_RATE_WINDOW_SECONDS: '60',
      },
    })
    for (const left of [1, 0]) {
      const { status, headers } = await postUrl(service, { url: server.url('/a') })
      expect(status).to.equal(200)
      expect(headers.get('ratelimit-policy')).to.equal('"fetch";q=2;w=60')
      expect(headers.get('ratelimit')).to.match(new RegExp(`^"fetch";r=${left};t=\\d+$`))
    }
    const made = server.connections.made
    const refused = await postUrl(service, { url: server.url('/a') })
    expect(refused.status).to.equal(429)
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60)
    expect(await refused.json()).to.include({ code: 'rate_limited', limit: 'fetch' })
    expect(server.connections.made).to.equal(made)
    expect(jsonOf(await exchange(service, '/healthz'))).to.include({})
    await server.close()
  })
})
