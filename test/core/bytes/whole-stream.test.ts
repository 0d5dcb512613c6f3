import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect } from 'chai'
import { assetFromBytes } from '../../../src/core/bytes/asset.ts'
import { streamOf, takeWhole } from '../../../src/core/bytes/whole-stream.ts'

const BYTES = Buffer.from('0123456789')

describe('a stream over bytes in memory', () => {
  it('returns the same bytes without a copy, once, and is destroyed', () => {
    const stream = streamOf(BYTES)
    expect(takeWhole(stream)).to.equal(BYTES)
    expect(stream.destroyed).to.equal(true)
    expect(takeWhole(stream)).to.equal(undefined)
  })

  it('can be read as any other stream', async () => {
    expect(await buffer(streamOf(BYTES))).to.deep.equal(BYTES)
  })

  it('returns nothing after a part of it was read, and of another stream', async () => {
    const stream = streamOf(BYTES)
    for await (const _ of stream) break
    expect(takeWhole(stream)).to.equal(undefined)
    const other = Readable.from([BYTES])
    expect(takeWhole(other)).to.equal(undefined)
    expect(await buffer(other)).to.deep.equal(BYTES)
  })

  it('returns the bytes of a range only', async () => {
    const asset = assetFromBytes(BYTES, { mediaType: 'image/png', lastModified: new Date() })
    expect(String(takeWhole(await asset.open({ range: { start: 2, end: 4 } })))).to.equal('234')
  })
})
