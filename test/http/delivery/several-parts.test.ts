import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Asset, ByteRange, OpenOptions } from '../../../src/core/bytes/asset.ts'
import { fileNotFound } from '../../../src/core/problem.ts'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { partsOf } from '../../support/requests/byteranges.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf, openSocket } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { wrapBuckets } from '../../support/storage.ts'

// The first part is more than what lies between a server and a client that does not read.
const PARTS: ByteRange[] = [
  { start: 1, end: 14_000_000 },
  { start: 14_000_002, end: 14_100_000 },
  { start: 14_500_000, end: 15_999_999 },
]
const SIZE = 16_000_000
const RANGE = `bytes=${PARTS.map(({ start, end }) => `${start}-${end}`).join(',')}`

type Open = (options: OpenOptions, open: Asset['open']) => Promise<Readable>

onOneOrTwoBackends('multipart/byteranges of a large file', (start) => {
  const plain: Open = (options, open) => open(options)
  let opening = plain
  let asked: Array<ByteRange | undefined> = []
  let open = 0
  let service: Service
  let file: WireRecord
  const bytes = randomBytes(SIZE)

  before(async () => {
    service = await start({
      wrapStorage: wrapBuckets((bucket) => ({
        find: async (key, known) => {
          const asset = await bucket.find(key, known)
          return asset && { ...asset, open: (options = {}) => watched(options, asset.open) }
        },
      })),
    })
    file = await uploadOne(service, { name: 'a.bin', bytes })
  })
  beforeEach(() => {
    asked = []
    opening = plain
  })
  afterEach(() => eventually(() => expect(open).to.equal(0)))

  async function watched(options: OpenOptions, how: Asset['open']): Promise<Readable> {
    asked.push(options.range)
    const stream = await opening(options, how)
    open += 1
    stream.once('close', () => {
      open -= 1
    })
    return stream
  }

  /** A client that has asked for all parts and reads nothing. */
  async function slowClient() {
    const socket = await openSocket(service)
    socket.on('error', () => {})
    socket.pause()
    const path = file.src.slice(service.url.length)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nRange: ${RANGE}\r\n\r\n`)
    return socket
  }

  const errors = () => service.log.lines.filter(({ level }) => level === 'error')

  it('reads only the requested ranges from the bucket', async () => {
    const answer = await exchange(service, file.src, { headers: { Range: RANGE } })
    const received = partsOf(answer).map((part) => part.bytes)
    expect(received).to.have.length(3)
    for (const [i, { start, end }] of PARTS.entries())
      expect(received[i]?.equals(bytes.subarray(start, end + 1)), `part ${i}`).to.equal(true)
    expect(asked).to.deep.equal(PARTS)
  })

  it('opens a range when the ones before it are sent', async () => {
    const socket = await slowClient()
    await eventually(() => expect(open).to.equal(1))
    await pause(100)
    expect(asked).to.deep.equal(PARTS.slice(0, 1))
    let most = 0
    socket.on('data', () => {
      most = Math.max(most, open)
    })
    socket.resume()
    await once(socket, 'close')
    expect(asked).to.deep.equal(PARTS)
    expect(most).to.equal(1)
  })

  it('closes the range that is being sent when the client disconnects', async () => {
    const socket = await slowClient()
    await eventually(() => expect(open).to.equal(1))
    socket.destroy()
    await eventually(() => expect(open).to.equal(0))
    await pause(50)
    expect(asked).to.have.length(1)
    expect(errors()).to.deep.equal([])
  })

  it('aborts the range that is being opened when the client disconnects', async () => {
    const reasons: unknown[] = []
    opening = ({ range, signal }, how) => {
      if (range?.start === 1) return how({ range, ...(signal ? { signal } : {}) })
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          reasons.push(signal.reason)
          reject(signal.reason)
        })
      })
    }
    const socket = await slowClient()
    socket.resume()
    await eventually(() => expect(asked).to.have.length(2))
    socket.destroy()
    await eventually(() => expect(reasons).to.have.length(1))
    await pause(50)
    expect(asked).to.have.length(2)
    expect(errors()).to.deep.equal([])
  })

  const breaks: Record<string, Open> = {
    'is gone': async () => {
      throw fileNotFound()
    },
    fails: async () =>
      new Readable({
        read() {
          void this.destroy(new Error('EIO: i/o error'))
        },
      }),
    'ends early': async () => Readable.from([Buffer.alloc(10)], { objectMode: false }),
  }
  for (const [how, broken] of Object.entries(breaks)) {
    it(`destroys the connection when a later range ${how}`, async () => {
      opening = (options, open) => (options.range?.start === 1 ? open(options) : broken(options, open))
      const outcome = await exchange(service, file.src, {
        headers: { Range: RANGE },
      }).catch((error) => error)
      expect(outcome).to.be.an.instanceOf(Error).with.property('code', 'ECONNRESET')
      expect(asked).to.have.length(2)
      opening = plain
      expect((await exchange(service, file.src, { headers: { Range: 'bytes=0-1,5-6' } })).status).to.equal(
        206,
      )
    })
  }

  it('responds with the problem when the first range is missing', async () => {
    opening = async () => {
      throw fileNotFound()
    }
    const answer = await exchange(service, file.src, { headers: { Range: RANGE } })
    expect(answer.status).to.equal(404)
    expect(answer.headers['content-type']).to.equal('application/problem+json')
    expect(answer.headers['cache-control']).to.equal('no-store')
    expect(jsonOf(answer).code).to.equal('file_not_found')
  })
})
