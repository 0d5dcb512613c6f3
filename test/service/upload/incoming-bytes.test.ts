import { crc32 } from 'node:zlib'
import { expect } from 'chai'
import { sha256 } from '../../../src/core/bytes/digest.ts'
import { formatOfMediaType } from '../../../src/core/media/formats.ts'
import { measured, metered, newMeter, takeHead } from '../../../src/service/upload/incoming-bytes.ts'

describe('the meter of incoming bytes', () => {
  it('computes the digest and the checksum of all chunks', async () => {
    const chunks = [Buffer.alloc(70_000, 'a'), Buffer.from('b'), Buffer.alloc(70_000, 'c')]
    async function* incoming() {
      yield* chunks
    }
    const meter = newMeter(formatOfMediaType('application/pdf'))
    const passed: Buffer[] = []
    for await (const chunk of metered(await takeHead(incoming()), { meter })) passed.push(chunk)
    const whole = Buffer.concat(chunks)
    expect(Buffer.concat(passed).equals(whole)).to.equal(true)
    expect(measured(meter)).to.deep.equal({ sha256: sha256(whole), crc32: crc32(whole) })
  })
})
