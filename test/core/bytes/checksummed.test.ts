import { once } from 'node:events'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { expect } from 'chai'
import { checksummed } from '../../../src/core/bytes/checksummed.ts'
import { InMemoryStream } from '../../../src/core/bytes/in-memory-stream.ts'
import { rejection } from '../../support/rejection.ts'

const PIECES = ['one', 'two', 'three'].map((text) => Buffer.from(text))
const BYTES = Buffer.concat(PIECES)

describe('bytes with a checksum', () => {
  for (const [where, source] of [
    ['in memory', () => new InMemoryStream(BYTES)],
    ['in pieces', () => Readable.from(PIECES, { objectMode: false })],
  ] as const)
    it(`pass unchanged (${where})`, async () => {
      const { bytes, checksum } = checksummed(source())
      expect((await buffer(bytes)).equals(BYTES)).to.equal(true)
      expect(checksum()).to.equal(crc32(BYTES))
    })

  it('fail when their source fails, also before it is read', async () => {
    const broken = new Readable({ read() {} })
    const { bytes } = checksummed(broken)
    const reason = new Error('EIO')
    broken.destroy(reason)
    await turn()
    expect(await rejection(buffer(bytes))).to.equal(reason)
  })

  it('release their source when they are destroyed unread', async () => {
    const source = new Readable({ read() {} })
    checksummed(source).bytes.destroy()
    await once(source, 'close')
  })
})
