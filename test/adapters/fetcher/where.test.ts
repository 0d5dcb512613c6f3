import { expect } from 'chai'
import { type GuardedFetcherOptions, guardedFetcher } from '../../../src/adapters/fetcher/guarded.ts'
import { type Remote, remote } from '../../support/requests/remote.ts'
import { CERTIFICATE } from '../../support/servers/certificate.ts'
import { dnsError, names } from './names.ts'
import { bytesOf, expectProblem } from './outcome.ts'

const NOT_PUBLIC = 'the URL may not be fetched: expected a host with a public address'

describe('guarded fetcher: allowed targets', () => {
  let inside: Remote
  let outside: Remote

  // Two servers at one port: the tests may reach 127.0.0.1, as if it were public, and not 127.0.0.2.
  before(async () => {
    outside = await remote((_, res) => res.end('public'))
    inside = await remote((_, res) => res.end('secret'), { host: '127.0.0.2', port: outside.port })
  })
  after(() => Promise.all([inside.close(), outside.close()]))
  afterEach(() => expect(inside.connections.made, 'connections to the inside').to.equal(0))

  const get = (url: string, { access, ...options }: GuardedFetcherOptions = {}) =>
    guardedFetcher({
      access: { ports: [outside.port], addresses: ['127.0.0.1/32'], ...access },
      resolve: names().resolve,
      ...options,
    }).fetch({ url, timeoutMs: 60_000, maxBytes: 1000 })

  describe('names', () => {
    it('connects to the checked address, and resolves the name once', async () => {
      const { resolve, asked } = names({ 'rebind.test': [['127.0.0.1'], ['127.0.0.2']] })
      const answer = await get(outside.url('/', 'rebind.test'), { resolve })
      expect(String(await bytesOf(answer))).to.equal('public')
      expect(asked).to.deep.equal(['rebind.test'])
    })

    it('checks again for each request, without a cache', async () => {
      const { resolve } = names({ 'rebind.test': [['127.0.0.1'], ['127.0.0.2']] })
      const fetcher = guardedFetcher({
        access: { ports: [outside.port], addresses: ['127.0.0.1/32'] },
        resolve,
      })
      const request = { url: outside.url('/', 'rebind.test'), timeoutMs: 60_000, maxBytes: 1000 }
      await bytesOf(await fetcher.fetch(request))
      await expectProblem(fetcher.fetch(request), 400, 'url_not_allowed')
    })

    it('ignores addresses that are not public, and uses the others', async () => {
      const { resolve } = names({
        'mixed.test': [['127.0.0.2', '10.0.0.1', '::1', '127.0.0.1', '169.254.169.254']],
      })
      const answer = await get(outside.url('/', 'mixed.test'), { resolve })
      expect(String(await bytesOf(answer))).to.equal('public')
    })

    for (const [what, addresses, reason] of [
      ['a private address', ['127.0.0.2'], '127.0.0.2: loopback (RFC 1122)'],
      [
        'several of them',
        ['127.0.0.2', '10.0.0.1', 'fd00::1', '::1'],
        '127.0.0.2: loopback (RFC 1122), 10.0.0.1: private (RFC 1918), fd00::1: unique local (RFC 4193)',
      ],
      ['an IPv4-mapped one', ['::ffff:127.0.0.1'], '::ffff:127.0.0.1: IPv4-mapped (RFC 4291)'],
      ['one with a zone', ['fe80::1%lo'], 'fe80::1%lo: not an address'],
      [
        'what is no address',
        ['localhost', '', '127.1'],
        'localhost: not an address, : not an address, 127.1: not an address',
      ],
      ['nothing', [], 'the host name does not exist or has no address'],
    ] as const) {
      it(`refuses a name that has ${what}, with the reason only in the log`, async () => {
        const { resolve } = names({ 'evil.test': [addresses] })
        const made = outside.connections.made
        const problem = await expectProblem(
          get(outside.url('/', 'evil.test'), { resolve }),
          400,
          'url_not_allowed',
        )
        expect(problem.message).to.equal(NOT_PUBLIC)
        expect(problem.cause).to.have.property('message', reason)
        expect(outside.connections.made).to.equal(made)
      })
    }

    it('gives the same error for a name that does not exist, so that internal names cannot be discovered', async () => {
      for (const code of ['ENOTFOUND', 'ENODATA']) {
        const resolve = () => Promise.reject(dnsError(code))
        const problem = await expectProblem(
          get(outside.url('/', 'none.test'), { resolve }),
          400,
          'url_not_allowed',
        )
        expect(problem.message).to.equal(NOT_PUBLIC)
      }
    })

    it('answers 502 when names cannot be resolved, 504 when that takes too long', async () => {
      const url = outside.url('/', 'slow.test')
      const failing = () => Promise.reject(dnsError('EAI_AGAIN'))
      await expectProblem(get(url, { resolve: failing }), 502, 'remote_failed')
      const hanging = () => new Promise<string[]>(() => {})
      await expectProblem(get(url, { resolve: hanging, connectMs: 50 }), 504, 'remote_timeout')
    })

    it('resolves as the system does by default: localhost is not public', async () => {
      const fetcher = guardedFetcher({ access: { ports: [outside.port] } })
      const request = { url: outside.url('/', 'localhost'), timeoutMs: 60_000, maxBytes: 1000 }
      await expectProblem(fetcher.fetch(request), 400, 'url_not_allowed')
      const allowed = await fetcher.fetch({ ...request, access: { addresses: ['127.0.0.0/8', '::1/128'] } })
      expect(String(await bytesOf(allowed))).to.equal('public')
    })
  })

  describe('literal addresses', () => {
    it('connects to an allowed one without name resolution', async () => {
      const { resolve, asked } = names()
      expect((await get(outside.url(), { resolve })).status).to.equal(200)
      expect(asked).to.deep.equal([])
    })

    for (const host of [
      '127.0.0.2',
      '127.0.0.2.',
      '127.2',
      '127.0.2',
      '2130706434',
      '0x7f000002',
      '0x7F.0.0.2',
      '0177.0.0.2',
      '017700000002',
      '00000177.0.0.02',
      '%31%32%37.0.0.2',
      '①②⑦.⓪.⓪.②',
      '127。0。0。2',
      '0.0.0.0',
      '0',
      '10.0.0.1',
      '100.64.0.1',
      '169.254.169.254',
      '2852039166',
      '0xa9.0xfe.0xa9.0xfe',
      '172.16.0.1',
      '192.168.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '[::]',
      '[::1]',
      '[0:0:0:0:0:0:0:1]',
      '[::127.0.0.2]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::ffff:0:7f00:1]',
      '[64:ff9b::7f00:1]',
      '[64:ff9b::808:808]',
      '[64:ff9b:1::7f00:1]',
      '[2002:7f00:1::]',
      '[2001:0:808:808::80ff:fffe]',
      '[fc00::1]',
      '[fd00:ec2::254]',
      '[fe80::1]',
      '[fec0::1]',
      '[ff02::1]',
      '[2001:db8::1]',
    ]) {
      it(`refuses ${host}`, async () => {
        const { resolve, asked } = names()
        const problem = await expectProblem(
          get(`http://${host}:${outside.port}/`, { resolve }),
          400,
          'url_not_allowed',
        )
        expect(problem.message).to.equal(NOT_PUBLIC)
        expect(asked).to.deep.equal([])
      })
    }
  })

  describe('URLs', () => {
    const { resolve } = names({ 'ok.test': [['127.0.0.1']] })
    const refused: Array<[url: string, expected: string]> = [
      ['', 'an absolute URL'],
      ['/etc/passwd', 'an absolute URL'],
      ['//ok.test/', 'an absolute URL'],
      ['http://', 'an absolute URL'],
      ['http://ok test/', 'an absolute URL'],
      ['http://[fe80::1%25lo]/', 'an absolute URL'],
      ['http://127.0.0.1.256/', 'an absolute URL'],
      ['http://ok.test:99999/', 'an absolute URL'],
      ['file:///etc/passwd', 'http or https'],
      ['ftp://ok.test/', 'http or https'],
      ['gopher://ok.test/', 'http or https'],
      ['data:text/plain,a', 'http or https'],
      ['blob:http://ok.test/a', 'http or https'],
      ['javascript:alert(1)', 'http or https'],
      ['ws://ok.test/', 'http or https'],
      ['unix:/run/docker.sock', 'http or https'],
      ['http://user@ok.test/', 'no user name and no password'],
      ['http://user:secret@ok.test/', 'no user name and no password'],
      ['http://:secret@ok.test/', 'no user name and no password'],
      ['http://ok.test:22/', 'a port that may be fetched from'],
      ['http://ok.test:6379/', 'a port that may be fetched from'],
      ['https://ok.test:8443/', 'a port that may be fetched from'],
      ['http://ok.test:0/', 'a port that may be fetched from'],
    ]
    for (const [url, expected] of refused) {
      it(`refuses ${JSON.stringify(url)}`, async () => {
        const problem = await expectProblem(get(url, { resolve }), 400, 'url_not_allowed')
        expect(problem.message).to.equal(`the URL may not be fetched: expected ${expected}`)
      })
    }

    it('accepts ports 80 and 443 of both schemes by default', async () => {
      const { resolve: refusing, asked } = names({ 'ok.test': [['10.0.0.1']] })
      for (const url of ['http://ok.test/', 'https://ok.test/', 'http://ok.test:443/', 'https://ok.test:80/'])
        await expectProblem(get(url, { resolve: refusing }), 400, 'url_not_allowed')
      expect(asked).to.have.length(4)
    })

    it('sends path and query unchanged, without the fragment', async () => {
      const url = outside.url('/a%20b/../c?q=%2f&x#part')
      const answer = await get(url)
      expect(outside.requests.at(-1)?.url).to.equal('/c?q=%2f&x')
      expect(answer.url).to.equal(outside.url('/c?q=%2f&x#part'))
      answer.body.destroy()
    })
  })

  describe('hosts', () => {
    const { resolve } = names({
      'a.test': [['127.0.0.1']],
      'b.a.test': [['127.0.0.1']],
      'c.test': [['127.0.0.1']],
    })
    const cases: Array<[what: string, access: GuardedFetcherOptions['access'], taken: string[]]> = [
      ['all without lists', {}, ['a.test', 'b.a.test', 'c.test']],
      ['only those allowed', { allowHosts: ['a.test'] }, ['a.test']],
      ['those below one', { allowHosts: ['*.a.test', 'c.test'] }, ['b.a.test', 'c.test']],
      ['none of an empty list', { allowHosts: [] }, []],
      ['all but those denied', { denyHosts: ['a.test', '*.a.test'] }, ['c.test']],
      [
        'none that is denied and allowed',
        { allowHosts: ['a.test', 'c.test'], denyHosts: ['a.test'] },
        ['c.test'],
      ],
    ]
    for (const [what, access, taken] of cases) {
      it(`accepts ${what}, whether the list is the fetcher's or the request's`, async () => {
        const base = { ports: [outside.port], addresses: ['127.0.0.1/32'] }
        for (const host of ['a.test', 'b.a.test', 'c.test']) {
          const request = { url: outside.url('/', host), timeoutMs: 60_000, maxBytes: 1000 }
          const outcomes = [
            guardedFetcher({ access: { ...base, ...access }, resolve }).fetch(request),
            guardedFetcher({ access: base, resolve }).fetch({ ...request, access: access ?? {} }),
          ]
          for (const outcome of outcomes) {
            if (taken.includes(host)) (await outcome).body.destroy()
            else await expectProblem(outcome, 400, 'url_not_allowed')
          }
        }
      })
    }

    it("does not let a request allow a host that is not in the fetcher's list", async () => {
      const fetcher = guardedFetcher({
        access: { ports: [outside.port], addresses: ['127.0.0.1/32'], allowHosts: ['a.test'] },
        resolve,
      })
      const request = { url: outside.url('/', 'c.test'), timeoutMs: 60_000, maxBytes: 1000 }
      await expectProblem(
        fetcher.fetch({ ...request, access: { allowHosts: ['c.test'] } }),
        400,
        'url_not_allowed',
      )
    })
  })

  describe('TLS', () => {
    let secure: Remote
    before(async () => {
      secure = await remote((_, res) => res.end('over TLS'), { secure: true })
    })
    after(() => secure.close())

    const request = (host: string, options: GuardedFetcherOptions) =>
      get(secure.url('/', host), {
        access: { ports: [secure.port] },
        resolve: names({ 'secure.test': [['127.0.0.1']], 'wrong.test': [['127.0.0.1']] }).resolve,
        ...options,
      })

    it('sends the host name to the server and checks its certificate for that name', async () => {
      const answer = await request('secure.test', { ca: CERTIFICATE.cert })
      expect(String(await bytesOf(answer))).to.equal('over TLS')
      await expectProblem(request('wrong.test', { ca: CERTIFICATE.cert }), 502, 'remote_failed')
    })

    it('trusts only the certificate authorities of Node', async () => {
      await expectProblem(request('secure.test', {}), 502, 'remote_failed')
    })
  })
})
