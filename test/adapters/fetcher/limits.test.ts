import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { type GuardedFetcherOptions, guardedFetcher } from '../../../src/adapters/fetcher/guarded.ts'
import type { Fetched, FetchRequest } from '../../../src/core/ports/fetcher.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { endless, type Remote, rawRemote, remote, silentRemote } from '../../support/requests/remote.ts'
import { bytesOf, expectProblem } from './outcome.ts'

const HEAD = 'HTTP/1.1 200 OK\r\n'

describe('guarded fetcher: limits', () => {
  let server: Remote | undefined
  let crashes: unknown[]
  const crashed = (error: unknown) => crashes.push(error)

  beforeEach(() => {
    crashes = []
    process.on('uncaughtExceptionMonitor', crashed)
  })
  afterEach(async () => {
    process.off('uncaughtExceptionMonitor', crashed)
    expect(crashes).to.deep.equal([])
    await eventually(() => expect(server?.connections.open ?? 0, 'open connections').to.equal(0))
    await server?.close()
    server = undefined
  })

  type More = Partial<FetchRequest> & { limits?: GuardedFetcherOptions }
  const get = (from: Remote, { limits, ...more }: More = {}) => {
    server = from
    return guardedFetcher({ access: { ports: [from.port], addresses: ['127.0.0.1/32'] }, ...limits }).fetch({
      url: from.url(),
      // Longer than a test may take.
      timeoutMs: 600_000,
      maxBytes: 1000,
      ...more,
    })
  }
  /** Reads it whole, whether it fails at once or on the way. */
  const read = async (from: Remote, more: More = {}) => bytesOf(await get(from, more))

  describe('time', () => {
    // Before the time that the whole may take.
    const soon = (outcome: Promise<unknown>) => expectProblem(outcome, 504, 'remote_timeout')

    it('answers 504 for a server that does not finish the TLS handshake', async () => {
      const silent = await silentRemote()
      const url = `https://127.0.0.1:${silent.port}/`
      await soon(get(silent, { url, limits: { connectMs: 100 } }))
    })

    it('answers 504 for a server that sends nothing', async () => {
      const silent = await silentRemote()
      await soon(get(silent, { limits: { headersMs: 100 } }))
    })

    it('answers 504 for headers that arrive slowly', async () => {
      const drip = await rawRemote((socket) => {
        socket.write(`${HEAD}X: `)
        endless(socket, 'x', 20)
      })
      await soon(get(drip, { limits: { headersMs: 300 } }))
    })

    it('answers 502 for an endless status line, before the time limit', async () => {
      const chatty = await rawRemote((socket) => {
        socket.write('HTTP/1.1 200 ')
        endless(socket, 'x'.repeat(1000))
      })
      await expectProblem(get(chatty, { limits: { headersMs: 5000 } }), 502, 'remote_failed')
    })

    it('fails with 504 when the body stops in the middle', async () => {
      const stalling = await rawRemote((socket) => socket.write(`${HEAD}Content-Length: 10\r\n\r\nhalf`))
      const answer = await get(stalling, { limits: { bodyIdleMs: 100 } })
      expect(answer.status).to.equal(200)
      await soon(bytesOf(answer))
    })

    it('fails with 504 when a slow body exceeds the time limit of the whole fetch', async () => {
      const drip = await rawRemote((socket) => {
        socket.write(`${HEAD}\r\n`)
        endless(socket, 'x', 20)
      })
      const start = Date.now()
      await expectProblem(read(drip, { timeoutMs: 300 }), 504, 'remote_timeout')
      expect(Date.now() - start).to.be.at.least(280)
    })

    it('includes redirects in the time limit of the whole fetch', async () => {
      const slow = await remote((_, res) =>
        setTimeout(() => res.writeHead(302, { location: '/' }).end(), 100),
      )
      const start = Date.now()
      await expectProblem(get(slow, { timeoutMs: 250 }), 504, 'remote_timeout')
      expect(Date.now() - start).to.be.at.least(240)
    })

    it('waits for a slow reader, within the time limit of the whole fetch', async () => {
      const large = Buffer.alloc(400_000, 'x')
      const quick = await remote((_, res) => res.end(large))
      const answer = await get(quick, { maxBytes: large.length, limits: { bodyIdleMs: 1000 } })
      await pause(1500)
      expect((await bytesOf(answer)).length).to.equal(large.length)
    })

    it('closes the connection when the body is neither read nor destroyed', async () => {
      // More than the sockets of both sides hold for a reader.
      const large = await remote((_, res) => res.end(Buffer.alloc(40_000_000)))
      const answer = await get(large, { timeoutMs: 2000, maxBytes: 40_000_000 })
      await eventually(() => expect(large.connections.open).to.equal(0))
      await expectProblem(bytesOf(answer), 504, 'remote_timeout')
    })
  })

  describe('bytes', () => {
    it('accepts a body of exactly maxBytes, and answers 413 for one more byte', async () => {
      const sized = await remote((req, res) => res.end(Buffer.alloc(Number(req.url?.slice(1)))))
      expect((await read(sized, { url: sized.url('/1000') })).length).to.equal(1000)
      await expectProblem(get(sized, { url: sized.url('/1001') }), 413, 'too_large')
    })

    it('refuses a Content-Length above the limit before reading the body', async () => {
      const huge = await rawRemote((socket) => socket.write(`${HEAD}Content-Length: 99999999999999\r\n\r\n`))
      const problem = await expectProblem(get(huge), 413, 'too_large')
      expect(problem.members).to.deep.equal({ maxBytes: 1000 })
    })

    for (const [framing, [headers, piece]] of Object.entries({
      'that ends with the connection': ['\r\n', 'x'.repeat(100)],
      'in chunks': ['Transfer-Encoding: chunked\r\n\r\n', `64\r\n${'x'.repeat(100)}\r\n`],
      'in chunks of one byte': ['Transfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n'],
    } as const)) {
      it(`stops reading an endless body ${framing}`, async () => {
        const source = await rawRemote((socket) => {
          socket.write(`${HEAD}${headers}`)
          endless(socket, piece)
        })
        const answer = await get(source)
        let bytes = 0
        const sink = new Writable({
          write(chunk: Buffer, _encoding, done) {
            bytes += chunk.length
            done()
          },
        })
        await expectProblem(pipeline(answer.body, sink), 413, 'too_large')
        expect(bytes).to.be.at.most(1000)
      })
    }

    it('fails with 502 for a body that is shorter than its Content-Length', async () => {
      const lying = await rawRemote((socket) => socket.end(`${HEAD}Content-Length: 100\r\n\r\nhalf`))
      await expectProblem(read(lying), 502, 'remote_failed')
    })

    it('reads no more of a longer body than its Content-Length', async () => {
      const lying = await rawRemote((socket) => socket.end(`${HEAD}Content-Length: 4\r\n\r\nfour and more`))
      expect(String(await read(lying))).to.equal('four')
    })

    for (const lengths of [
      'Content-Length: 4\r\nContent-Length: 8',
      'Content-Length: -1',
      'Content-Length: 4x',
      'Content-Length: 4\r\nTransfer-Encoding: chunked',
    ]) {
      it(`fails with 502 for ${JSON.stringify(lengths)}`, async () => {
        const lying = await rawRemote((socket) =>
          socket.end(`${HEAD}${lengths}\r\n\r\n4\r\nbody\r\n0\r\n\r\n`),
        )
        await expectProblem(read(lying), 502, 'remote_failed')
      })
    }

    it('fails with 502 for truncated chunks', async () => {
      const broken = await rawRemote((socket) =>
        socket.end(`${HEAD}Transfer-Encoding: chunked\r\n\r\n8\r\nhalf`),
      )
      await expectProblem(read(broken), 502, 'remote_failed')
    })

    for (const [what, method, head] of [
      ['a 204', 'GET', 'HTTP/1.1 204 No Content\r\nContent-Length: 5000\r\nContent-Encoding: gzip\r\n\r\n'],
      ['a 304', 'GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5000\r\nContent-Encoding: x\r\n\r\n'],
      ['an answer to HEAD', 'HEAD', `${HEAD}Content-Length: 5000\r\nContent-Encoding: gzip\r\n\r\n`],
    ] as const) {
      it(`returns an empty body for ${what}, whatever its length and encoding headers say`, async () => {
        const source = await rawRemote((socket) => socket.end(head))
        expect((await read(source, { method })).length).to.equal(0)
      })
    }

    for (const [what, head] of Object.entries({
      'one header that is too long': `${HEAD}X: ${'x'.repeat(20_000)}\r\n\r\n`,
      'many headers': `${HEAD}${'X: y\r\n'.repeat(10_000)}\r\n`,
    })) {
      it(`answers 502 for ${what}`, async () => {
        const flooding = await rawRemote((socket) => socket.end(head))
        await expectProblem(read(flooding), 502, 'remote_failed')
      })
    }

    it('answers 502 for endless headers', async () => {
      const flooding = await rawRemote((socket) => {
        socket.write(HEAD)
        endless(socket, `X: ${'x'.repeat(1000)}\r\n`)
      })
      await expectProblem(get(flooding), 502, 'remote_failed')
    })
  })

  describe('encodings that were not requested', () => {
    const plain = Buffer.from('plain text, '.repeat(50))
    const encodings: Record<string, Buffer> = {
      gzip: gzipSync(plain),
      'X-GZip': gzipSync(plain),
      deflate: deflateSync(plain),
      br: brotliCompressSync(plain),
      identity: plain,
    }
    const encoded = (encoding: string, bytes: Buffer) =>
      remote((_, res) =>
        res.writeHead(200, { 'content-encoding': encoding, 'content-length': bytes.length }).end(bytes),
      )

    for (const [encoding, bytes] of Object.entries(encodings)) {
      it(`decodes ${encoding}, and removes the headers of the encoding`, async () => {
        const answer = await get(await encoded(encoding, bytes))
        expect(answer.headers).to.not.have.any.keys('content-encoding', 'content-length')
        expect((await bytesOf(answer)).equals(plain)).to.equal(true)
      })
    }

    for (const encoding of ['compress', 'zstd', 'gzip, gzip', 'x'.repeat(100)]) {
      it(`answers 502 for ${encoding.slice(0, 20)}`, async () => {
        await expectProblem(get(await encoded(encoding, plain)), 502, 'remote_failed')
      })
    }

    for (const [encoding, compress] of Object.entries({
      gzip: gzipSync,
      deflate: deflateSync,
      br: brotliCompressSync,
    })) {
      it(`stops a ${encoding} bomb when too many bytes were decoded`, async () => {
        const bomb = compress(Buffer.alloc(10_000_000))
        expect(bomb.length).to.be.below(20_000)
        const answer = await get(await encoded(encoding, bomb), { maxBytes: 20_000 })
        let bytes = 0
        answer.body.on('data', (chunk: Buffer) => {
          bytes += chunk.length
        })
        await expectProblem(new Promise((_, reject) => answer.body.on('error', reject)), 413, 'too_large')
        expect(bytes).to.be.at.most(20_000)
      })
    }

    it('stops a stream that decodes to nothing without end', async () => {
      const nothing = await rawRemote((socket) => {
        socket.write(`${HEAD}Content-Encoding: gzip\r\n\r\n`)
        endless(socket, gzipSync(''))
      })
      await expectProblem(read(nothing), 413, 'too_large')
    })

    for (const [what, bytes] of Object.entries({
      'what is not in the encoding it tells': plain,
      'what breaks off': gzipSync(plain).subarray(0, 20),
    })) {
      it(`fails with 502 for ${what}`, async () => {
        await expectProblem(read(await encoded('gzip', bytes)), 502, 'remote_failed')
      })
    }
  })

  describe('connections', () => {
    it('answers 502 when no server listens, without the address', async () => {
      const gone = await remote(() => {})
      await gone.close()
      const fetcher = guardedFetcher({ access: { ports: [gone.port], addresses: ['127.0.0.1/32'] } })
      const outcome = fetcher.fetch({ url: gone.url(), timeoutMs: 60_000, maxBytes: 1 })
      const problem = await expectProblem(outcome, 502, 'remote_failed')
      expect(problem.message).to.equal('the remote server could not be reached, or closed the connection')
    })

    for (const [what, said] of Object.entries({
      'before it answers': '',
      'in its headers': `${HEAD}X: y`,
      'in its body': `${HEAD}Content-Length: 100\r\n\r\nhalf`,
      'in a body without a length': `${HEAD}\r\nhalf`,
      'in a chunk': `${HEAD}Transfer-Encoding: chunked\r\n\r\n8\r\nhalf`,
    })) {
      it(`fails with 502 when the connection is reset ${what}`, async () => {
        const rude = await rawRemote((socket) => {
          if (said === '') socket.resetAndDestroy()
          else socket.write(said, () => setTimeout(() => socket.resetAndDestroy(), 20))
        })
        await expectProblem(read(rude), 502, 'remote_failed')
        expect(rude.connections.made).to.equal(1)
      })
    }

    for (const [what, said] of Object.entries({
      'another protocol': 'SSH-2.0-OpenSSH_9.2\r\n',
      'an HTTP that does not exist': 'HTTP/9.9 200 OK\r\n\r\n',
      'a protocol that it changes to':
        'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
      'a 100 that was not requested': 'HTTP/1.1 100 Continue\r\n\r\n',
    })) {
      it(`answers 502 for ${what}`, async () => {
        await expectProblem(get(await rawRemote((socket) => socket.end(said))), 502, 'remote_failed')
      })
    }

    for (const [framing, head] of [
      ['with a length', `${HEAD}Content-Length: 3000000\r\n\r\n`],
      ['without one', `${HEAD}\r\n`],
    ] as const) {
      it(`returns a whole body ${framing} whose server closes before it is read`, async () => {
        const hasty = await rawRemote((socket) => socket.end(head + 'x'.repeat(3_000_000)))
        const answer = await get(hasty, { maxBytes: 3_000_000 })
        await pause(200)
        expect(await bytesOf(answer)).to.have.length(3_000_000)
      })
    }

    it('does not crash when a body fails before it is read; a later reader gets the error', async () => {
      const rude = await rawRemote((socket) => {
        socket.write(`${HEAD}Content-Length: 100\r\n\r\nhalf`, () =>
          setTimeout(() => socket.resetAndDestroy(), 20),
        )
      })
      const answer = await get(rude)
      await pause(100)
      await expectProblem(bytesOf(answer), 502, 'remote_failed')
    })

    it('closes the connection when the reader disconnects', async () => {
      const source = await rawRemote((socket) => {
        socket.write(`${HEAD}\r\n`)
        endless(socket, 'x'.repeat(1000))
      })
      const answer = await get(source, { maxBytes: 1e9 })
      for await (const chunk of answer.body) {
        expect(chunk).to.have.length.above(0)
        break
      }
      await eventually(() => expect(source.connections.open).to.equal(0))
    })

    for (const [what, end] of Object.entries({
      'is destroyed': (answer) => answer.body.destroy(),
      'takes too long': () => {},
      'is too large': (answer) => rejection(bytesOf(answer)),
      'is no longer wanted': (_, leave) => leave(),
    } satisfies Record<string, (answer: Fetched, leave: () => void) => unknown>)) {
      it(`connects once when a body ${what}, and does not retry`, async () => {
        const source = await rawRemote((socket) => socket.write(`${HEAD}\r\n${'x'.repeat(2000)}`))
        const maxBytes = what === 'is too large' ? 1000 : 1e9
        const leave = new AbortController()
        const timeoutMs = what === 'takes too long' ? 500 : 600_000
        const answer = await get(source, { timeoutMs, maxBytes, signal: leave.signal })
        await end(answer, () => leave.abort())
        await eventually(() => expect(source.connections.open).to.equal(0))
        await pause(100)
        expect(source.connections).to.deep.equal({ made: 1, open: 0 })
      })
    }
  })

  describe('a caller that disconnects', () => {
    const reason = new Error('left')

    it('before the start: no request is sent', async () => {
      const source = await remote((_, res) => res.end())
      expect(await rejection(get(source, { signal: AbortSignal.abort(reason) }))).to.equal(reason)
      expect(source.connections.made).to.equal(0)
    })

    it('during the name resolution', async () => {
      const source = await remote((_, res) => res.end())
      const resolve = () => new Promise<string[]>(() => {})
      const leave = new AbortController()
      setTimeout(() => leave.abort(reason), 30)
      const outcome = get(source, {
        url: source.url('/', 'a.test'),
        signal: leave.signal,
        limits: { resolve },
      })
      expect(await rejection(outcome)).to.equal(reason)
    })

    for (const [what, said] of Object.entries({
      headers: '',
      body: `${HEAD}Content-Length: 100\r\n\r\nhalf`,
    })) {
      it(`during the ${what}`, async () => {
        const source = await rawRemote((socket) => socket.write(said))
        const leave = new AbortController()
        setTimeout(() => leave.abort(reason), 50)
        expect(await rejection(read(source, { signal: leave.signal }))).to.equal(reason)
      })
    }

    it('after the end: nothing happens, and no listener remains on its signal', async () => {
      const source = await remote((_, res) => res.end('all'))
      const leave = new AbortController()
      let listening = 0
      const { signal } = leave
      const [add, remove] = [signal.addEventListener, signal.removeEventListener]
      signal.addEventListener = (...args: Parameters<typeof add>) => {
        listening += 1
        return add.apply(signal, args)
      }
      signal.removeEventListener = (...args: Parameters<typeof remove>) => {
        listening -= 1
        return remove.apply(signal, args)
      }
      const answer = await get(source, { signal })
      expect(String(await bytesOf(answer))).to.equal('all')
      await eventually(() => expect(listening).to.equal(0))
      leave.abort(reason)
      await pause(20)
    })
  })
})
