import { createGzip, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { guardedFetcher } from '../../../src/adapters/fetcher/guarded.ts'
import { rejection } from '../../support/rejection.ts'
import { endless, type Remote, rawRemote, remote } from '../../support/requests/remote.ts'
import { bytesOf, expectProblem } from './outcome.ts'

const MIB = 1024 * 1024

describe('guarded fetcher: expensive responses', () => {
  const open: Remote[] = []
  after(() => Promise.all(open.map((each) => each.close())))

  const get = (from: Remote, maxBytes = 1024 * MIB) => {
    open.push(from)
    return guardedFetcher({ access: { ports: [from.port], addresses: ['127.0.0.1/32'] } }).fetch({
      url: from.url(),
      timeoutMs: 60_000,
      maxBytes,
    })
  }
  const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
  const interim = (count: number, header = '') =>
    rawRemote((socket) => socket.write(`HTTP/1.1 103 Early Hints\r\n${header}\r\n`.repeat(count) + OK))

  it('aborts endless interim responses (1xx) at once', async () => {
    for (const status of ['100 Continue', '102 Processing', '103 Early Hints']) {
      const server = await rawRemote((socket) => endless(socket, `HTTP/1.1 ${status}\r\n\r\n`, 5))
      // At the time limit of a fetch, it would be remote_timeout.
      await expectProblem(get(server), 502, 'remote_failed')
    }
  })

  it('accepts ten of them, but not eleven', async () => {
    expect(String(await bytesOf(await get(await interim(10))))).to.equal('ok')
    await expectProblem(get(await interim(11)), 502, 'remote_failed')
  })

  it('accepts at most 16 KB of them', async () => {
    const link = `Link: <${'a'.repeat(6000)}>\r\n`
    expect(String(await bytesOf(await get(await interim(2, link))))).to.equal('ok')
    await expectProblem(get(await interim(3, link)), 502, 'remote_failed')
  })

  const encoded = (body: Buffer) =>
    remote((_, res) => void res.writeHead(200, { 'Content-Encoding': 'gzip' }).end(body))

  it('refuses a body that expands more than 100 times, after at most a few MB', async () => {
    // 60 MB of zeros, in 60 KB.
    const bomb = gzipSync(Buffer.alloc(60 * MIB))
    const { body } = await get(await encoded(bomb))
    let bytes = 0
    body.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    const problem = await rejection(new Promise((_, reject) => body.once('error', reject)))
    expect(problem).to.include({ status: 413, code: 'too_large' })
    expect(bytes).to.be.below(8 * MIB)
  })

  it('accepts a body of 1 MiB at any ratio, and text that compresses well', async () => {
    const small = Buffer.alloc(MIB)
    expect((await bytesOf(await get(await encoded(gzipSync(small))))).length).to.equal(MIB)
    const lines = Array.from({ length: 60_000 }, (_, i) => `${i * 7919} GET /healthz HTTP/1.1 200 OK - - -\n`)
    const text = Buffer.from(lines.join(''))
    const gzip = createGzip()
    gzip.end(text)
    const packed = await bytesOf({ body: gzip })
    expect((await bytesOf(await get(await encoded(packed)))).equals(text)).to.equal(true)
  })
})
