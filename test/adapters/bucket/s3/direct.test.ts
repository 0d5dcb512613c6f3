import { expect } from 'chai'
import { partBytesOf as copyPartBytesOf } from '../../../../src/adapters/bucket/s3/copy.ts'
import { partBytesOf } from '../../../../src/adapters/bucket/s3/presigned/direct.ts'
import { storedKey } from '../../../../src/core/files/object-key.ts'
import { MIB, onS3 } from '../s3-setup.ts'

const GIB = 1024 * MIB
const TIB = 1024 * GIB
const PIECE = storedKey('.sluice/tus/pieces/first/7uLqEUXG4WpoGGa38h2U9Z/0-1')

describe('s3: the parts of large files', () => {
  const s3 = onS3()

  for (const [size, part] of [
    [1, 16 * MIB],
    [200 * 16 * MIB, 16 * MIB],
    [200 * 16 * MIB + 1, 17 * MIB],
    [78 * GIB, 400 * MIB],
    [100 * GIB, 512 * MIB],
    [TIB, 512 * MIB],
    [5 * TIB, 525 * MIB],
  ] as const)
    it(`of ${size} bytes have ${part} bytes`, () => {
      expect(partBytesOf(size)).to.equal(part)
      expect(Math.ceil(size / part)).to.be.at.most(10_000)
    })

  it('are at most 10,000 in a copy', () => {
    expect(copyPartBytesOf(10_000 * 128 * MIB)).to.equal(128 * MIB)
    expect(copyPartBytesOf(5 * TIB)).to.equal(525 * MIB)
  })

  it('are permitted 200 at a time, from the first missing one on', async () => {
    const { permitPut, abortPuts } = s3.bucket
    const options = { size: 5 * TIB, expiresInSeconds: 60 }
    const permit = await permitPut?.(PIECE, options)
    if (!permit) throw new Error('no permit')
    expect(permit.missingBytes).to.equal(5 * TIB)
    expect(permit.puts).to.have.lengthOf(200)
    expect(JSON.stringify(permit.puts).length).to.be.below(200_000)
    const all = Array.from({ length: 9986 }, (_, i) => ({
      ...{ number: i + 1, etag: '', at: 0 },
      size: 525 * MIB,
    }))
    // Few are missing: to permit 200 takes long.
    const received = all.slice(0, 9980)
    const next = await permitPut?.(PIECE, { ...options, rest: { uploadId: permit.uploadId, received } })
    expect(next?.missingBytes).to.equal(5 * TIB - 9980 * 525 * MIB)
    expect(next?.puts[0]).to.include({ start: 9980 * 525 * MIB, size: 525 * MIB })
    const last = await permitPut?.(PIECE, { ...options, rest: { uploadId: permit.uploadId, received: all } })
    const start = 9986 * 525 * MIB
    expect(last?.puts.map((put) => [put.start, put.size])).to.deep.equal([[start, 5 * TIB - start]])
    await abortPuts(PIECE)
  })
})
