import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { onOneBackend, stoppedAtTheEnd } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import { endless, type Remote, rawRemote, remote } from '../../support/requests/remote.ts'
import { fetchingFrom, fetchPath, keepPath, postUrl } from '../../support/requests/remote-files.ts'
import { type Service, startService } from '../../support/service.ts'
import { everyNth, itLong } from '../../support/sized.ts'

type Ask = (service: Service, url: string) => Promise<{ status: number; code: unknown; text: string }>

const told = (answer: Answer) => ({
  status: answer.status,
  code: jsonOf(answer).code,
  text: answer.body.toString(),
})

/** All three ways to have something fetched. */
const WAYS: Readonly<Record<string, Ask>> = {
  'POST /v1/upload/url': async (service, url) => {
    const response = await postUrl(service, { url })
    const text = await response.text()
    return { status: response.status, code: JSON.parse(text).code, text }
  },
  'GET /v1/image/fetch': async (service, url) => told(await exchange(service, fetchPath(service, url))),
  'GET /v1/image/fetch/keep': async (service, url) => told(await exchange(service, keepPath(service, url))),
}

const UNLIMITED = { FETCH_RATE_LIMIT: '0', FETCH_RATE_LIMIT_PER_IP: '0' }

describe('fetches from forbidden addresses', () => {
  const start = stoppedAtTheEnd(startService)
  let service: Service
  let inside: Remote
  before(async () => {
    const png = await picture()
    inside = await remote((_, res) => res.end(png))
    // The port may be asked, the address not.
    service = await start({ env: { ...UNLIMITED, FETCH_PORTS: String(inside.port) } })
    await service.app.clients.setRules('first', { fetchHosts: 'any' })
  })
  after(() => inside.close())
  afterEach(async () => {
    expect(inside.connections.made, 'connections to the inside').to.equal(0)
    for (const name of await service.objects()) expect(name).to.include('.sluice/clients/')
  })

  const hosts = [
    ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001'],
    ...[
      '127.0.0.1.',
      '%31%32%37.0.0.1',
      '①②⑦.⓪.⓪.①',
      '127。0。0。1',
      '0',
      '0.0.0.0',
      '10.0.0.1',
      '100.64.0.1',
    ],
    ...[
      '169.254.169.254',
      '2852039166',
      '0xa9fea9fe',
      '168.63.129.16',
      '172.16.0.1',
      '192.168.0.1',
      '198.18.0.1',
    ],
    ...[
      '192.0.2.1',
      '192.88.99.1',
      '224.0.0.1',
      '240.0.0.1',
      '255.255.255.255',
      '[::]',
      '[::1]',
      '[::127.0.0.1]',
    ],
    ...[
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::ffff:0:127.0.0.1]',
      '[64:ff9b::127.0.0.1]',
      '[64:ff9b::808:808]',
    ],
    ...[
      '[64:ff9b:1::7f00:1]',
      '[2002:7f00:1::]',
      '[2002:808:808::]',
      '[2001:0:808:808::80ff:fffe]',
      '[2001:db8::1]',
    ],
    ...['[fc00::1]', '[fd00:ec2::254]', '[fe80::1]', '[fec0::1]', '[ff02::1]', '[100::1]', '[5f00::1]'],
    // The system knows these, and whatever it is, it is not public.
    ...['localhost', 'LOCALHOST', 'localhost.', 'none.invalid'],
  ]
  const urls = [
    'file:///etc/passwd',
    'file://localhost/etc/passwd',
    'ftp://example.com/a.png',
    'gopher://127.0.0.1:6379/_FLUSHALL',
    'dict://127.0.0.1:6379/info',
    'ldap://127.0.0.1/',
    'data:image/png;base64,AAAA',
    'blob:http://example.com/a',
    'javascript:alert(1)',
    'jar:http://example.com/a.jar!/',
    'unix:/var/run/docker.sock',
    'http:/\\/\\127.0.0.1',
    'http://user@example.com/',
    'http://user:secret@example.com/',
    'http://:secret@example.com/',
    'http://example.com@127.0.0.1/',
    'http://127.0.0.1#@example.com/',
    'http://example.com:22/',
    'http://example.com:6379/',
    'https://example.com:8443/',
    'http://example.com:0/',
    'http://example.com:99999/',
    'http://',
    '//example.com/a.png',
    '/etc/passwd',
    'example.com/a.png',
    ' http://example.com/',
    'http://exa\tmple.com/',
    'http://example.com/\r\nHost: inside',
    'http://[fe80::1%25lo]/',
    'http://127.0.0.1.256/',
    `http://example.com/${'a'.repeat(2000)}`,
  ]
  const hostile: Array<[what: string, url: () => string]> = [
    ...hosts.map((host) => [host, () => `http://${host}:${inside.port}/a.png`] as [string, () => string]),
    ...urls.map((url) => [JSON.stringify(url).slice(0, 60), () => url] as [string, () => string]),
  ]
  // One place checks the addresses of all ways: the first way gets all of them, and the others some of each kind.
  for (const [i, [way, ask]] of Object.entries(WAYS).entries())
    for (const [what, url] of i === 0 ? hostile : everyNth(6, hostile))
      it(`are refused by ${way}: ${what}`, async () => {
        const { status, code, text } = await ask(service, url())
        expect({ status, code }).to.deep.equal({ status: 400, code: 'url_not_allowed' })
        // Neither where a name leads to, nor what was in the URL.
        expect(text).not.to.match(/127\.0\.0\.1|::1\b|secret/)
      })
})

onOneBackend('fetches from hostile servers', (start) => {
  let service: Service
  let outside: Remote
  let denied: Remote
  let raw: Remote
  let png: Buffer
  let answer: (path: string, res: ServerResponse) => void
  let speak: Parameters<typeof rawRemote>[0]

  before(async () => {
    png = await picture()
    outside = await remote((req, res) => answer(String(req.url), res))
    // The port may be asked, and this address not.
    denied = await remote((_, res) => res.end(png), { host: '127.0.0.2', port: outside.port })
    raw = await rawRemote((socket) => speak(socket))
    service = await start({
      env: {
        ...fetchingFrom(outside, raw),
        ...UNLIMITED,
        FETCH_TIMEOUT_SECONDS: '2',
        FETCH_KEEP_TIMEOUT_SECONDS: '2',
        UPLOAD_MAX_BYTES: '3000000',
        IMAGE_MAX_BYTES: '3000000',
      },
    })
    await service.app.clients.setRules('first', { fetchHosts: 'any' })
  })
  after(() => Promise.all([outside.close(), denied.close(), raw.close()]))

  for (const [i, [way, ask]] of Object.entries(WAYS).entries()) {
    // The slow ones test the fetcher, which all ways have in common.
    const itSlow = i === 0 ? it : itLong
    describe(way, () => {
      const refused = async (url: string, status: number, code: string) => {
        const before = await service.objects()
        const outcome = await ask(service, url)
        expect({ status: outcome.status, code: outcome.code }).to.deep.equal({ status, code })
        expect(await service.objects()).to.deep.equal(before)
      }

      const places: Array<[what: string, location: () => string]> = [
        ['an address inside', () => denied.url()],
        ['a name of the inside', () => outside.url('/', 'localhost.localdomain.invalid')],
        ['another spelling of it', () => `http://0x7f000002:${outside.port}/`],
        ['a file', () => 'file:///etc/passwd'],
        ['another scheme', () => 'gopher://127.0.0.1:6379/_FLUSHALL'],
        ['another port', () => 'http://127.0.0.1:6379/'],
        ['a user', () => `http://user:secret@127.0.0.1:${outside.port}/`],
      ]
      for (const [what, location] of everyNth(i === 0 ? 1 : 3, places)) {
        it(`follow no redirect to ${what}`, async () => {
          answer = (path, res) =>
            void res.writeHead(302, { Location: path === '/second' ? location() : '/second' }).end()
          await refused(outside.url(), 400, 'url_not_allowed')
          expect(denied.connections.made).to.equal(0)
        })
      }

      it('stop at a redirect loop', async () => {
        const before = outside.requests.length
        answer = (_, res) => void res.writeHead(302, { Location: '/' }).end()
        await refused(outside.url(), 502, 'remote_failed')
        expect(outside.requests.length - before).to.equal(6)
      })

      it('refuse a redirect to an invalid URL', async () => {
        answer = (_, res) => void res.writeHead(302, { Location: 'http://' }).end()
        await refused(outside.url(), 502, 'remote_failed')
      })

      it('refuse an endless body', async () => {
        speak = (socket) => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n')
          socket.write(png)
          endless(socket, Buffer.alloc(100_000))
        }
        await refused(raw.url(), 413, 'too_large')
      })

      itSlow('refuse a decompression bomb', async () => {
        const bomb = gzipSync(Buffer.concat([png, Buffer.alloc(30_000_000)]))
        answer = (_, res) => void res.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb)
        await refused(outside.url(), 413, 'too_large')
      })

      itSlow('time out on a body that arrives drop by drop', async () => {
        speak = (socket) => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n')
          socket.write(png.subarray(0, 20))
          endless(socket, 'x', 20)
        }
        const began = Date.now()
        await refused(raw.url(), 504, 'remote_timeout')
        expect(Date.now() - began).to.be.at.least(900)
      })

      it('refuse a truncated body', async () => {
        speak = (socket) => {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${png.length + 1}\r\n\r\n`)
          socket.end(png)
        }
        await refused(raw.url(), 502, 'remote_failed')
      })

      it('refuse a body that ends with a connection reset', async () => {
        speak = (socket) => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n')
          socket.write(png, () => setTimeout(() => socket.resetAndDestroy(), 100))
        }
        await refused(raw.url(), 502, 'remote_failed')
      })
    })
  }

  it('pass on no cookie to the next redirect, or to the caller', async () => {
    answer = (path, res) => {
      res.setHeader('Set-Cookie', 'a=b')
      if (path === '/') res.writeHead(302, { Location: '/next' }).end()
      else res.end(png)
    }
    const { headers, status } = await exchange(service, fetchPath(service, outside.url()))
    expect(status).to.equal(200)
    expect(headers).not.to.have.property('set-cookie')
    expect(outside.requests.at(-1)?.headers).not.to.have.property('cookie')
    expect(outside.requests.at(-1)?.headers).not.to.have.property('referer')
  })

  it('detect the type from the bytes on every route', async () => {
    answer = (_, res) => void res.writeHead(200, { 'Content-Type': 'image/png' }).end('<!doctype html><p>')
    for (const path of [fetchPath(service, outside.url('/x')), keepPath(service, outside.url('/x'))])
      expect(jsonOf(await exchange(service, path))).to.include({ status: 422, code: 'wrong_type' })
  })

  it('refuse a redirect to a host that is not in the fetchHosts of the client', async () => {
    await service.app.clients.setRules('first', { fetchHosts: ['127.0.0.1'] })
    answer = (_, res) => void res.writeHead(302, { Location: outside.url('/', 'localhost') }).end()
    for (const ask of Object.values(WAYS))
      expect(await ask(service, outside.url('/y'))).to.include({ status: 400, code: 'url_not_allowed' })
    await service.app.clients.setRules('first', { fetchHosts: 'any', fetchDenyHosts: ['localhost'] })
    for (const ask of Object.values(WAYS))
      expect(await ask(service, outside.url('/y'))).to.include({ status: 400, code: 'url_not_allowed' })
    await service.app.clients.setRules('first', { fetchHosts: 'any', fetchDenyHosts: false })
  })
})
