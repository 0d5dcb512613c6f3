import { Readable } from 'node:stream'
import { expect } from 'chai'
import type { Asset, OpenOptions } from '../../../../src/core/bytes/asset.ts'
import { fileReplaced, unavailable } from '../../../../src/core/problem.ts'
import { createReadObject } from '../../../../src/service/upload/direct/read-object.ts'
import { rejection } from '../../../support/rejection.ts'

describe('the read of a large object', () => {
  const bytes = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251))
  /** The object, and the ranges that were read. */
  function object(fails: (start: number, times: number) => Error | undefined = () => undefined) {
    const starts: number[] = []
    let open = 0
    let most = 0
    const asset = {
      size: bytes.length,
      async open({ range = { start: 0, end: bytes.length - 1 } }: OpenOptions = {}) {
        starts.push(range.start)
        open += 1
        most = Math.max(most, open)
        // The first ones take longer.
        for (let i = 0; i < 50 - range.start / 20; i += 1) await new Promise(setImmediate)
        open -= 1
        const error = fails(range.start, starts.filter((start) => start === range.start).length)
        if (error) throw error
        return Readable.from([bytes.subarray(range.start, range.end + 1)], { objectMode: false })
      },
    } as unknown as Asset
    return { asset, starts, most: () => most }
  }
  const reader = () => createReadObject({ largeBytes: 500, rangeBytes: 300, retryMs: 1 })
  const read = async (asset: Asset, signal?: AbortSignal, readObject = reader()) => {
    const chunks: Buffer[] = []
    for await (const chunk of readObject(asset, signal)) chunks.push(chunk)
    return Buffer.concat(chunks)
  }

  it('has all bytes in order, with several ranges at the same time', async () => {
    const { asset, starts, most } = object()
    expect((await read(asset)).equals(bytes)).to.equal(true)
    expect(starts).to.deep.equal([0, 300, 600, 900])
    expect(most()).to.equal(4)
  })

  it('repeats a range that fails, and no other', async () => {
    const { asset, starts } = object((start, times) =>
      start === 300 && times < 3 ? unavailable('S3 is away') : undefined,
    )
    expect((await read(asset)).equals(bytes)).to.equal(true)
    expect(starts.toSorted((one, other) => one - other)).to.deep.equal([0, 300, 300, 300, 600, 900])
  })

  it('ends when the object was replaced, or the range fails for long', async () => {
    const replaced = object((start) => (start === 300 ? fileReplaced(new Error()) : undefined))
    expect(await rejection(read(replaced.asset)))
      .to.have.property('message')
      .that.includes('replaced')
    expect(replaced.starts.filter((start) => start === 300)).to.have.lengthOf(1)
    const away = object((start) => (start === 300 ? unavailable('S3 is away') : undefined))
    expect(await rejection(read(away.asset))).to.have.property('status', 503)
    expect(away.starts.filter((start) => start === 300)).to.have.lengthOf(7)
  })

  it('is one stream for a third object at a time, which continues where it has failed', async () => {
    const readObject = reader()
    const objects = [object(), object()]
    const fast = objects.map(({ asset }) => readObject(asset, undefined))
    await Promise.all(fast.map((one) => one.next()))
    const third = object()
    const { open } = third.asset
    third.asset.open = async (options) => {
      const source = (await open(options)) as AsyncIterable<Buffer>
      if (third.starts.length > 1) return source as Readable
      const broken = async function* () {
        for await (const chunk of source) yield chunk.subarray(0, 400)
        throw unavailable('S3 is away')
      }
      return Readable.from(broken(), { objectMode: false })
    }
    expect((await read(third.asset, undefined, readObject)).equals(bytes)).to.equal(true)
    expect(third.starts).to.have.lengthOf(2)
    expect(third.most()).to.equal(1)
    for (const one of fast) await one.return(undefined)
    const next = object()
    await read(next.asset, undefined, readObject)
    expect(next.most()).to.equal(4)
  })

  it('ends with its signal', async () => {
    const end = new AbortController()
    const { asset } = object((start) => {
      if (start !== 300) return undefined
      end.abort(new Error('left'))
      return unavailable('S3 is away')
    })
    expect(await rejection(read(asset, end.signal))).to.have.property('message', 'left')
  })
})
