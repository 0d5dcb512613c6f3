import { once } from 'node:events'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import {
  type Asset,
  assetFromBytes,
  openWhole,
  readAll,
  readStart,
  readWhole,
} from '../../../src/core/bytes/asset.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'

const BYTES = Buffer.from('0123456789')
const lastModified = new Date(1_700_000_000_000)

describe('assets over bytes', () => {
  const asset = assetFromBytes(BYTES, { mediaType: 'text/plain', lastModified })

  it('have size, media type and date', () => {
    expect(asset).to.include({ size: 10, mediaType: 'text/plain', lastModified })
  })

  it('can be opened repeatedly', async () => {
    for (let i = 0; i < 3; i += 1) expect(await buffer(await asset.open())).to.deep.equal(BYTES)
  })

  for (const [start, end, text] of [
    [0, 0, '0'],
    [0, 9, '0123456789'],
    [3, 5, '345'],
    [9, 9, '9'],
  ] as const) {
    it(`give bytes ${start} to ${end}, both included`, async () => {
      expect(String(await buffer(await asset.open({ range: { start, end } })))).to.equal(text)
    })
  }

  it('are read in one piece, not byte by byte', async () => {
    const chunks: unknown[] = []
    for await (const chunk of await asset.open()) chunks.push(chunk)
    expect(chunks).to.have.length(1)
  })

  it('are read from their start, up to a number of bytes', async () => {
    const { signal } = new AbortController()
    for (const [maxBytes, text] of [
      [4, '0123'],
      [10, '0123456789'],
      [11, '0123456789'],
    ] as const)
      expect(String(await readStart(asset, { maxBytes, signal }))).to.equal(text)
  })

  it('are not opened with an aborted signal', async () => {
    const reason = new Error('left')
    expect(await rejection(asset.open({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
  })
})

/** An asset of chunks that may say another size than they have. */
function assetOf(
  chunks: readonly string[],
  size: number,
): Asset & { opened: Readable[]; options: unknown[] } {
  const opened: Readable[] = []
  const options: unknown[] = []
  return {
    opened,
    options,
    size,
    mediaType: 'text/plain',
    lastModified,
    async open(given) {
      options.push(given)
      const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
      opened.push(stream)
      return stream
    },
  }
}

/** Streams that are not what the asset says, and how many bytes that is. */
const NOT_WHOLE = [
  ['ends early', ['ab'], {}, 4],
  ['is longer than expected', ['abc', 'de'], {}, 4],
  ['is empty', [], {}, 4],
  ['ends within its range', ['ab'], { range: { start: 0, end: 2 } }, 3],
] as const

describe('openWhole', () => {
  it('returns the bytes unchanged', async () => {
    expect(String(await buffer(await openWhole(assetOf(['ab', 'cd'], 4))))).to.equal('abcd')
    const range = { start: 3, end: 5 }
    const asset = assetFromBytes(BYTES, { mediaType: 'text/plain', lastModified })
    expect(String(await buffer(await openWhole(asset, { range })))).to.equal('345')
  })

  for (const [what, chunks, options, expected] of NOT_WHOLE) {
    it(`fails when the stream ${what}`, async () => {
      const length = chunks.join('').length
      const error = await rejection(openWhole(assetOf(chunks, 4), options).then((stream) => buffer(stream)))
      expect(error).to.have.property('message', `expected ${expected} bytes of a file but received ${length}`)
    })
  }

  it('passes on range and signal', async () => {
    const asset = assetOf(['abc'], 9)
    const options = { range: { start: 0, end: 2 }, signal: new AbortController().signal }
    await buffer(await openWhole(asset, options))
    expect(asset.options).to.deep.equal([options])
  })

  it('reports an error of the source that comes before the first read', async () => {
    const asset = assetOf(['ab', 'cd'], 4)
    const stream = await openWhole(asset)
    const failed = once(stream, 'error')
    asset.opened[0]?.destroy(new Error('the disk is gone'))
    expect((await failed)[0]).to.have.property('message', 'the disk is gone')
  })

  for (const [when, read] of [
    ['in the middle', async (stream: Readable) => void (await stream[Symbol.asyncIterator]().next())],
    ['before it was read', async () => {}],
  ] as const) {
    it(`destroys the source when its stream is destroyed ${when}`, async () => {
      const asset = assetOf(Array(1000).fill('x'.repeat(1000)), 1_000_000)
      const stream = await openWhole(asset)
      await read(stream)
      stream.destroy()
      await pause(20)
      expect(asset.opened[0]?.destroyed).to.equal(true)
    })
  }
})

describe('readWhole', () => {
  it('concatenates the chunks', async () => {
    expect(String(await readAll(assetOf(['ab', 'cd'], 4)))).to.equal('abcd')
  })

  it('returns a single chunk without a copy', async () => {
    const asset = assetFromBytes(BYTES, { mediaType: 'text/plain', lastModified })
    expect(await readWhole(asset)).to.equal(BYTES)
  })

  it('reads a range', async () => {
    const asset = assetFromBytes(BYTES, { mediaType: 'text/plain', lastModified })
    expect(String(await readWhole(asset, { range: { start: 3, end: 5 } }))).to.equal('345')
  })

  for (const [what, chunks, options, expected] of NOT_WHOLE) {
    it(`fails when the stream ${what}`, async () => {
      const error = await rejection(readWhole(assetOf(chunks, 4), options))
      const length = chunks.join('').length
      expect(error).to.have.property('message', `expected ${expected} bytes of a file but received ${length}`)
    })
  }

  it('stops when the caller aborts, and destroys the stream', async () => {
    const controller = new AbortController()
    const endless = Readable.from(
      (async function* () {
        for (let i = 0; ; i += 1) {
          if (i === 3) controller.abort(new Error('left'))
          yield Buffer.from('x')
        }
      })(),
    )
    const asset: Asset = { size: 9e9, mediaType: 'text/plain', lastModified, open: async () => endless }
    expect(await rejection(readAll(asset, controller.signal))).to.have.property('message', 'left')
    await eventually(() => expect(endless.destroyed).to.equal(true))
  })

  it('passes on the signal, and requests all bytes at once', async () => {
    const { signal } = new AbortController()
    const asset = assetOf([], 0)
    await readAll(asset, signal)
    expect(asset.options).to.deep.equal([{ signal, atOnce: true }])
  })
})
