import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Response } from 'express'
import { diskBuckets } from '../../../src/adapters/bucket/disk/disk.ts'
import { s3Buckets } from '../../../src/adapters/bucket/s3/s3.ts'
import { type Asset, assetFromBytes } from '../../../src/core/bytes/asset.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import type { Buckets } from '../../../src/core/ports/bucket.ts'
import { openPieces } from '../../../src/http/readers/open-pieces.ts'
import { createReaders, type Readers } from '../../../src/http/readers/readers.ts'
import { sendPieces } from '../../../src/http/readers/send-pieces.ts'
import { clientGone } from '../../../src/http/request.ts'
import { eventually } from '../../support/eventually.ts'
import { s3Server } from '../../support/servers/s3-server.ts'
import { recordLog } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { noise } from '../../support/stored/noise.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const KIB = 1024
const MIB = 1024 * KIB
// More than the system takes for a client that does not read.
const BYTES = noise(16 * MIB)
const KEY = storedKey('application/bin/AAAAAAAAAAAAAAAAAAAAAA.bin')

/** A file in a bucket, and how many bytes have been given out of it. */
async function stored(buckets: Buckets): Promise<Asset> {
  const bucket = buckets.of({ id: 'first', token: 'public-token' })
  await bucket.put(KEY, Readable.from([BYTES]), { mediaType: 'application/octet-stream' })
  const asset = await bucket.find(KEY)
  if (!asset) throw new Error('the file is not there')
  return asset
}

const SOURCES: Record<string, () => Promise<Asset>> = {
  'a disk': async () => {
    const folder = await temporaryFolder()
    return stored(await diskBuckets({ folder, urlOf: () => '' }))
  },
  S3: async () => {
    const server = await s3Server()
    const bucket = await server.newBucket()
    return stored(await s3Buckets({ ...server.connection, bucket, prefix: '' }))
  },
  memory: async () => assetFromBytes(BYTES, { mediaType: 'image/png', lastModified: new Date() }),
}

describe('the buffer of a client that does not read', () => {
  let server: Server
  let asset: Asset
  let readers: Readers
  let socket: Socket
  let given: number
  let taken: number
  let response: Response | undefined

  beforeEach(async () => {
    readers = createReaders({ minBytesPerSecond: 0, log: recordLog() })
    given = 0
    taken = 0
    const { begin } = readers
    readers.begin = (res) => {
      const reader = begin(res)
      return {
        ...reader,
        took(piece) {
          taken += piece.length
          reader.took(piece)
        },
      }
    }
    // Counts the bytes that were read from the file, including unsent ones.
    const counted: Asset['open'] = async (options) => {
      const stream = await asset.open(options)
      const { push } = stream
      stream.push = (chunk: Buffer | null) => {
        given += chunk?.length ?? 0
        return push.call(stream, chunk)
      }
      return stream
    }
    server = createServer((_req, res) => {
      response = res as Response
      const signal = clientGone(response)
      void sendPieces(response, (options) => openPieces({ ...asset, open: counted }, options), {
        readers,
        signal,
      }).catch(() => {})
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterEach(async () => {
    socket.destroy()
    await eventually(() => expect(response?.closed).to.equal(true))
    // It reads no further for the client that has left.
    await pause(50)
    server.closeAllConnections()
    server.close()
  })

  /** Bytes that wait in this process, when nothing moves any more. */
  async function held(): Promise<number> {
    socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => {}).pause()
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    for (let last = -1; last !== given || given === 0; ) {
      last = given
      await pause(300)
    }
    expect(given).to.be.below(BYTES.length)
    return given - taken
  }

  for (const [name, open] of Object.entries(SOURCES)) {
    // The limits are set before the source is known. A response from memory has the same pieces as one from a disk.
    const itOfDisk = name === 'a disk' ? it : itLong
    describe(`a file from ${name}`, () => {
      before(async () => {
        asset = await open()
      })

      itOfDisk('is 64 KB when many other clients wait', async () => {
        readers.begin({} as Response).waits(20 * MIB)
        expect(await held()).to.be.within(1, 64 * KIB + 1)
      })

      // S3 gives the pieces that come from its connection.
      if (name !== 'S3')
        itOfDisk('is 16 KB when very many other clients wait', async () => {
          readers.begin({} as Response).waits(100 * MIB)
          expect(await held()).to.be.within(1, 16 * KIB + 1)
        })

      itOfDisk('is at most 512 KB when the client was fast before and no others wait', async () => {
        expect(await held()).to.be.within(1, 512 * KIB)
      })

      it('does not grow, and the client gets all of the file when it continues', async () => {
        await held()
        const received: Buffer[] = []
        socket.on('data', (chunk: Buffer) => received.push(chunk)).resume()
        await eventually(() => expect(response?.writableFinished).to.equal(true))
        await eventually(() => expect(bodyOf(Buffer.concat(received)).equals(BYTES)).to.equal(true))
      })
    })
  }
})

const NONE = Buffer.alloc(0)

/** Of an answer in chunks, since these have no length: RFC 9112 section 7.1. */
function bodyOf(answer: Buffer): Buffer {
  const chunks: Buffer[] = []
  for (let at = answer.indexOf('\r\n\r\n') + 4; ; ) {
    const start = answer.indexOf('\r\n', at) + 2
    const length = Number.parseInt(answer.toString('latin1', at, start), 16)
    if (!(length > 0)) return Buffer.concat(chunks)
    chunks.push(answer.subarray(start, start + length))
    at = start + length + 2
  }
}

describe('large pieces', () => {
  it('are given to 32 fast readers at most, since all may stop at the same moment', () => {
    const readers = createReaders({ minBytesPerSecond: 0, log: recordLog() })
    const all = Array.from({ length: 40 }, () => readers.begin({} as Response))
    const lengths = () => all.map((reader) => reader.newPiece(true).length)
    const large = () => lengths().filter((length) => length === 256 * KIB).length
    expect([large(), large()]).to.deep.equal([32, 32])
    expect(all[39]?.newPiece(true).length).to.equal(64 * KIB)
    all[0]?.end()
    all[1]?.newPiece(false)
    expect(all[39]?.newPiece(true).length).to.equal(256 * KIB)
    expect(large()).to.equal(32)
  })
})

describe('the minimum speed of readers', () => {
  /** A response that is looked at, and whether it has been destroyed. */
  const fakeResponse = () => {
    const res = {
      destroyed: false,
      destroy() {
        res.destroyed = true
      },
    }
    return res
  }
  const begun = (minBytesPerSecond: number) => {
    const readers = createReaders({ minBytesPerSecond, log: recordLog(), lookEveryMs: 1 })
    const res = fakeResponse()
    return { readers, res, reader: readers.begin(res as unknown as Response) }
  }

  it('disconnects a client that reads nothing for two minutes and the time of a piece', async () => {
    const { res, reader } = begun(256 * KIB)
    reader.waits(1000)
    await eventually(() => expect(res.destroyed).to.equal(true))
  })

  it('disconnects a client that reads a single byte from time to time', async () => {
    const { res, reader } = begun(256 * KIB)
    for (let i = 0; i < 1000 && !res.destroyed; i += 1) {
      reader.waits(1)
      await pause(1)
      reader.took(NONE)
    }
    expect(res.destroyed).to.equal(true)
  })

  it('keeps the connection of a client that reads enough on average, with pauses', async () => {
    // Its time is 121 s, of 1 ms each here: all pauses together are longer, and each piece is worth 40 s.
    const { res, reader } = begun(256 * KIB)
    for (let i = 0; i < 20; i += 1) {
      reader.waits(40 * 256 * KIB)
      await pause(20)
      reader.took(NONE)
    }
    expect(res.destroyed).to.equal(false)
  })

  it('does not count the time in which Sluice waits for the file', async () => {
    const { res, reader } = begun(256 * KIB)
    reader.waits(1)
    reader.took(NONE)
    await pause(300)
    expect(res.destroyed).to.equal(false)
  })

  it('is off when it is set to 0', async () => {
    const { res, reader } = begun(0)
    reader.waits(1000)
    await pause(300)
    expect(res.destroyed).to.equal(false)
    reader.end()
  })
})

describe('responses that are not stored', () => {
  it('respond 503 above 64 MiB in total, until one ends', () => {
    const readers = createReaders({ minBytesPerSecond: 0, log: recordLog() })
    const ends = [readers.hold(40 * MIB), readers.hold(24 * MIB)]
    expect(() => readers.hold(1))
      .to.throw()
      .with.include({ status: 503, code: 'too_many_slow_readers' })
    ends[0]?.()
    readers.hold(40 * MIB)
  })
})
