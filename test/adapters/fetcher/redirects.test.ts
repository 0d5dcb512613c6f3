import { expect } from 'chai'
import { guardedFetcher } from '../../../src/adapters/fetcher/guarded.ts'
import type { FetchRequest } from '../../../src/core/ports/fetcher.ts'
import { inRequest } from '../../../src/core/request-context.ts'
import { eventually } from '../../support/eventually.ts'
import { endless, type Remote, rawRemote, remote } from '../../support/requests/remote.ts'
import { CERTIFICATE } from '../../support/servers/certificate.ts'
import { names } from './names.ts'
import { bytesOf, expectProblem } from './outcome.ts'

describe('guarded fetcher: redirects', () => {
  let inside: Remote
  let plain: Remote
  let secure: Remote
  /** Where `/go` of both servers sends, and how. */
  let location: string
  let status: number

  before(async () => {
    const answer: Parameters<typeof remote>[0] = (req, res) => {
      const left = Number(/^\/hops\/(\d+)/.exec(req.url ?? '')?.[1] ?? 0)
      if (req.url === '/go') res.writeHead(status, { location, 'set-cookie': 'session=1' }).end('moved')
      else if (left > 0) res.writeHead(302, { location: `${left - 1}` }).end()
      else res.end(`${req.method} ${req.url}`)
    }
    plain = await remote(answer)
    secure = await remote(answer, { secure: true })
    inside = await remote((_, res) => res.end('secret'), { host: '127.0.0.2', port: plain.port })
  })
  after(() => Promise.all([inside.close(), plain.close(), secure.close()]))
  beforeEach(() => {
    status = 302
  })
  afterEach(async () => {
    expect(inside.connections.made, 'connections to the inside').to.equal(0)
    await eventually(() => expect([plain.connections.open, secure.connections.open]).to.deep.equal([0, 0]))
  })

  const { resolve } = names({
    'a.test': [['127.0.0.1']],
    'b.test': [['127.0.0.1']],
    'secure.test': [['127.0.0.1']],
    'other.test': [['127.0.0.1']],
    'inside.test': [['127.0.0.2']],
  })
  const get = (url: string, more: Partial<FetchRequest> = {}) =>
    guardedFetcher({
      access: { ports: [plain.port, secure.port], addresses: ['127.0.0.1/32'] },
      resolve,
      ca: CERTIFICATE.cert,
    }).fetch({ url, timeoutMs: 60_000, maxBytes: 1000, ...more })

  it('sends the trace of a request to the first origin only', async () => {
    location = plain.url('/there', 'b.test')
    const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
    const answer = await inRequest({ requestId: 'one', trace }, () => get(plain.url('/go', 'a.test')))
    await bytesOf(answer)
    const sent = plain.requests.slice(-2).map(({ headers }) => headers.traceparent)
    expect(sent).to.deep.equal([trace.traceparent, undefined])
  })

  for (const code of [301, 302, 303, 307, 308]) {
    it(`follows a ${code}, and returns the final URL`, async () => {
      status = code
      location = plain.url('/there?x=1', 'b.test')
      const answer = await get(plain.url('/go', 'a.test'))
      expect(String(await bytesOf(answer))).to.equal('GET /there?x=1')
      expect(answer).to.include({ status: 200, url: plain.url('/there?x=1', 'b.test') })
    })
  }

  for (const [relative, expected] of Object.entries({
    '/there': '/there',
    there: '/there',
    '?x': '/go?x',
    './a/../b': '/b',
    '': '/go',
  })) {
    it(`resolves the Location ${JSON.stringify(relative)} against the same server`, async () => {
      location = relative
      if (relative === '') return expectProblem(get(plain.url('/go')), 502, 'remote_failed')
      const answer = await get(plain.url('/go'))
      expect(answer.url).to.equal(plain.url(expected))
      answer.body.destroy()
    })
  }

  for (const code of [300, 304, 305, 306, 399]) {
    it(`returns a ${code} unchanged`, async () => {
      status = code
      location = plain.url('/there')
      const answer = await get(plain.url('/go'))
      expect([answer.status, answer.headers.location]).to.deep.equal([code, location])
      answer.body.destroy()
    })
  }

  it('keeps HEAD', async () => {
    location = '/there'
    const answer = await get(plain.url('/go'), { method: 'HEAD' })
    expect(plain.requests.at(-1)).to.include({ method: 'HEAD', url: '/there' })
    expect((await bytesOf(answer)).length).to.equal(0)
  })

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PURGE'] as const) {
    it(`does not follow a redirect of ${method}: it is returned as the response`, async () => {
      location = plain.url('/there')
      for (status of [301, 302, 303, 307, 308]) {
        const answer = await get(plain.url('/go'), { method, body: 'x' })
        expect(answer.status).to.equal(status)
        answer.body.destroy()
        expect(plain.requests.at(-1)?.url).to.equal('/go')
      }
    })
  }

  for (const [what, target] of Object.entries({
    'the metadata service': 'http://169.254.169.254/latest/meta-data/',
    'it in decimal': 'http://2852039166/',
    'it in hexadecimal': 'http://0xa9fea9fe/',
    'it as IPv4-mapped IPv6': 'http://[::ffff:a9fe:a9fe]/',
    'it through 6to4': 'http://[2002:a9fe:a9fe::]/',
    'it through NAT64': 'http://[64:ff9b::a9fe:a9fe]/',
    loopback: 'http://127.0.0.2:<port>/',
    'loopback without scheme': '//127.0.0.2:<port>/',
    'loopback in short form': 'http://127.2:<port>/',
    'loopback in octal': 'http://0177.0.0.2:<port>/',
    'loopback of IPv6': 'http://[::1]:<port>/',
    'a name of the inside': 'http://inside.test:<port>/',
    'a name that does not exist': 'http://none.test/',
    'a file': 'file:///etc/passwd',
    gopher: 'gopher://a.test/_x',
    'a data URL': 'data:text/plain,x',
    'another port': 'http://a.test:22/',
    'a user name': 'http://user:secret@a.test:<port>/',
  })) {
    it(`refuses a redirect to ${what}`, async () => {
      location = target.replace('<port>', String(plain.port))
      const problem = await expectProblem(get(plain.url('/go', 'a.test')), 400, 'url_not_allowed')
      expect(problem.message).to.match(/^the URL redirects to a URL that may not be fetched: expected /)
      expect(problem.message).to.not.include('169').and.not.include('127').and.not.include('inside')
    })
  }

  it('resolves and checks a name again at each hop', async () => {
    const rebinding = names({ 'rebind.test': [['127.0.0.1'], ['127.0.0.2']] })
    const fetcher = guardedFetcher({
      access: { ports: [plain.port], addresses: ['127.0.0.1/32'] },
      resolve: rebinding.resolve,
    })
    location = '/there'
    const request = { url: plain.url('/go', 'rebind.test'), timeoutMs: 60_000, maxBytes: 1000 }
    await expectProblem(fetcher.fetch(request), 400, 'url_not_allowed')
    expect(rebinding.asked).to.deep.equal(['rebind.test', 'rebind.test'])
  })

  it('checks the host lists at every hop', async () => {
    location = plain.url('/there', 'b.test')
    for (const access of [{ denyHosts: ['b.test'] }, { allowHosts: ['a.test'] }])
      await expectProblem(get(plain.url('/go', 'a.test'), { access }), 400, 'url_not_allowed')
  })

  for (const bad of ['http://', 'http://[::1', 'http://a b/', 'http://%00/']) {
    it(`answers 502 for the Location ${JSON.stringify(bad)}`, async () => {
      location = bad
      await expectProblem(get(plain.url('/go')), 502, 'remote_failed')
    })
  }

  it('answers 502 for two Locations, and returns a redirect without Location unchanged', async () => {
    const two = await rawRemote((socket) =>
      socket.end('HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n'),
    )
    const none = await rawRemote((socket) => socket.end('HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n'))
    try {
      const access = { ports: [two.port, none.port] }
      await expectProblem(get(two.url(), { access }), 502, 'remote_failed')
      const answer = await get(none.url(), { access })
      expect(answer.status).to.equal(302)
      answer.body.destroy()
    } finally {
      await Promise.all([two.close(), none.close()])
    }
  })

  it('reads no body of a redirect, whatever its size', async () => {
    const chatty = await rawRemote((socket) => {
      if (chatty.connections.made > 1) return socket.end('HTTP/1.1 200 OK\r\n\r\nall')
      socket.write('HTTP/1.1 302 Found\r\nLocation: /there\r\n\r\n')
      endless(socket, 'x'.repeat(1000))
    })
    try {
      location = chatty.url('/', 'b.test')
      const answer = await get(plain.url('/go'), { access: { ports: [chatty.port] }, maxRedirects: 2 })
      answer.body.destroy()
      await eventually(() => expect(chatty.connections.open).to.equal(0))
    } finally {
      await chatty.close()
    }
  })

  it('follows five redirects, but not six', async () => {
    const answer = await get(plain.url('/hops/5'))
    expect(answer.url).to.equal(plain.url('/hops/0'))
    answer.body.destroy()
    const asked = plain.requests.length
    await expectProblem(get(plain.url('/hops/6')), 502, 'remote_failed')
    expect(plain.requests.length - asked).to.equal(6)
  })

  it('follows as many redirects as configured, also none', async () => {
    await expectProblem(get(plain.url('/hops/1'), { maxRedirects: 0 }), 502, 'remote_failed')
    await expectProblem(get(plain.url('/hops/3'), { maxRedirects: 2 }), 502, 'remote_failed')
    const answer = await get(plain.url('/hops/2'), { maxRedirects: 2 })
    expect(answer.status).to.equal(200)
    answer.body.destroy()
  })

  it('follows from http to https, but not back', async () => {
    location = secure.url('/there', 'secure.test')
    const answer = await get(plain.url('/go', 'a.test'))
    expect(String(await bytesOf(answer))).to.equal('GET /there')
    location = plain.url('/there', 'a.test')
    const asked = plain.requests.length
    const problem = await expectProblem(get(secure.url('/go', 'secure.test')), 400, 'url_not_allowed')
    expect(problem.message).to.include('https')
    expect(plain.requests.length).to.equal(asked)
  })

  describe('headers of the request', () => {
    const headers = { Authorization: 'Bearer secret', 'X-Token': 'secret', Accept: 'image/*', Cookie: 'a=b' }
    const secretsOf = (server: Remote) =>
      JSON.stringify(server.requests.at(-1)?.rawHeaders).match(/secret/g) ?? []

    it('are sent to the same origin, except cookies', async () => {
      location = '/there'
      ;(await get(plain.url('/go', 'a.test'), { headers })).body.destroy()
      expect(plain.requests.at(-1)?.url).to.equal('/there')
      expect(secretsOf(plain)).to.have.length(2)
      expect(plain.requests.at(-1)?.headers.accept).to.equal('image/*')
    })

    for (const [what, target] of Object.entries({
      host: () => plain.url('/there', 'b.test'),
      scheme: () => secure.url('/there', 'secure.test'),
      port: () => plain.url('/there', '127.0.0.1'),
    })) {
      it(`are not sent to another ${what}`, async () => {
        location = target()
        ;(await get(plain.url('/go', 'a.test'), { headers })).body.destroy()
        const server = what === 'scheme' ? secure : plain
        expect(server.requests.at(-1)?.url).to.equal('/there')
        expect(secretsOf(server)).to.deep.equal([])
        expect(server.requests.at(-1)?.headers.accept).to.equal('*/*')
      })
    }

    it('are not sent after a redirect to another origin and back', async () => {
      const detour = await remote((_, res) =>
        res.writeHead(302, { location: plain.url('/home', 'a.test') }).end(),
      )
      try {
        location = detour.url('/', 'b.test')
        const access = { ports: [detour.port] }
        ;(await get(plain.url('/go', 'a.test'), { headers, access })).body.destroy()
        expect(plain.requests.at(-1)?.url).to.equal('/home')
        expect(secretsOf(plain)).to.deep.equal([])
      } finally {
        await detour.close()
      }
    })

    it('contain no cookie that an earlier hop has set', async () => {
      location = '/there'
      ;(await get(plain.url('/go'), { headers })).body.destroy()
      expect(plain.requests.at(-1)?.headers).to.not.have.property('cookie')
    })
  })
})
