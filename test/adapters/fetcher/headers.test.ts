import { expect } from 'chai'
import { guardedFetcher } from '../../../src/adapters/fetcher/guarded.ts'
import type { FetchRequest } from '../../../src/core/ports/fetcher.ts'
import { type Remote, rawRemote, remote } from '../../support/requests/remote.ts'
import { bytesOf } from './outcome.ts'

describe('guarded fetcher: headers and methods', () => {
  let server: Remote
  before(async () => {
    server = await remote(async (req, res) => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk)
      res.setHeader('Set-Cookie', ['session=1', 'tracker=2'])
      res.setHeader('X-Twice', ['a', 'b'])
      res.end(Buffer.concat(chunks))
    })
  })
  after(() => server.close())

  const ask = (more: Partial<FetchRequest> = {}) =>
    guardedFetcher({ access: { ports: [server.port], addresses: ['127.0.0.1/32'] } }).fetch({
      url: server.url(),
      timeoutMs: 60_000,
      maxBytes: 1_000_000,
      ...more,
    })

  it('sends a user agent, accepts any type without encoding, and keeps no connection open', async () => {
    ;(await ask()).body.destroy()
    expect(server.requests.at(-1)?.headers).to.deep.equal({
      host: `127.0.0.1:${server.port}`,
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'Sluice',
      connection: 'close',
    })
  })

  it('sends the given headers, except those that would change the target or the framing', async () => {
    const headers = {
      'X-Own': '1',
      'USER-AGENT': 'mine',
      Cookie: 'a=b',
      host: 'inside.test',
      'Accept-Encoding': 'gzip',
      Connection: 'upgrade',
      'Transfer-Encoding': 'chunked',
    }
    ;(await ask({ headers })).body.destroy()
    expect(server.requests.at(-1)?.headers).to.deep.equal({
      host: `127.0.0.1:${server.port}`,
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'mine',
      'x-own': '1',
      connection: 'close',
    })
  })

  it('returns the headers of the response, without cookies', async () => {
    const { headers, body } = await ask()
    body.destroy()
    expect(headers).to.include({ 'x-twice': 'a, b' })
    expect(headers).to.not.have.property('set-cookie')
  })

  it('sends no cookie that an earlier response has set', async () => {
    for (let i = 0; i < 2; i += 1) (await ask()).body.destroy()
    expect(server.requests.at(-1)?.headers).to.not.have.property('cookie')
  })

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PURGE'] as const) {
    it(`sends a body with ${method}, text or bytes`, async () => {
      for (const body of ['ünïcode', Buffer.from([0, 255, 128])]) {
        const answer = await ask({ method, body })
        expect(server.requests.at(-1)?.method).to.equal(method)
        expect((await bytesOf(answer)).equals(Buffer.from(body))).to.equal(true)
      }
    })
  }

  it('handles header names that are members of every object', async () => {
    const odd = await rawRemote((socket) =>
      socket.end('HTTP/1.1 200 OK\r\n__proto__: x\r\nconstructor: y\r\nContent-Length: 2\r\n\r\nok'),
    )
    try {
      const answer = await ask({ url: odd.url(), access: { ports: [odd.port] } })
      expect(Object.entries(answer.headers)).to.deep.include(['constructor', 'y'])
      expect(Object.getPrototypeOf(answer.headers)).to.equal(Object.prototype)
      expect(String(await bytesOf(answer))).to.equal('ok')
    } finally {
      await odd.close()
    }
  })
})
