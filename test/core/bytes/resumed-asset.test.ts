import { once } from 'node:events'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Asset, ByteRange } from '../../../src/core/bytes/asset.ts'
import { type ResumeOptions, resumed } from '../../../src/core/bytes/resumed-asset.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'

const BYTES = Buffer.from('0123456789'.repeat(100))
const QUICK: ResumeOptions = { pausesMs: [0, 0, 0] }

/** What becomes of one opening: it gives `bytes` of what was asked for, in pieces, and then ends, fails or hangs. */
interface Fate {
  bytes?: number
  ending?: 'end' | 'fail' | 'hang'
}

/** An asset whose openings have these fates in turn, and after them give all. */
function assetOf(fates: readonly (Fate | Error)[], bytes = BYTES) {
  const ranges: Array<ByteRange | undefined> = []
  const streams: Readable[] = []
  const asset: Asset = {
    size: bytes.length,
    mediaType: 'text/plain',
    lastModified: new Date(0),
    async open({ range, signal } = {}) {
      const fate = fates[ranges.length] ?? {}
      ranges.push(range)
      if (fate instanceof Error) throw fate
      const { start, end } = range ?? { start: 0, end: bytes.length - 1 }
      const stop = Math.min(end + 1, start + (fate.bytes ?? Infinity))
      const stream = Readable.from(
        (async function* () {
          for (let at = start; at < stop; at += 100) yield bytes.subarray(at, Math.min(stop, at + 100))
          if (fate.ending === 'fail') throw new Error('EIO')
          if (fate.ending === 'hang') await once(signal as AbortSignal, 'abort')
        })(),
      )
      signal?.addEventListener('abort', () => stream.destroy(signal.reason))
      streams.push(stream)
      return stream
    },
  }
  return { asset, ranges, streams }
}

describe('assets whose streams are resumed', () => {
  it('are unchanged without errors', async () => {
    const { asset, ranges } = assetOf([])
    const lasting = resumed(asset)
    expect(lasting).to.include({ size: 1000, mediaType: 'text/plain', lastModified: asset.lastModified })
    expect((await buffer(await lasting.open())).equals(BYTES)).to.equal(true)
    // Without a range: a condition that a first opening needs not meet.
    expect(ranges).to.deep.equal([undefined])
  })

  for (const ending of ['end', 'fail'] as const) {
    it(`continue where a stream did ${ending}, up to three times`, async () => {
      const { asset, ranges, streams } = assetOf([250, 0, 450].map((bytes) => ({ bytes, ending })))
      const breaks: number[] = []
      const stream = await resumed(asset, { ...QUICK, onBreak: (_, times) => breaks.push(times) }).open()
      expect((await buffer(stream)).equals(BYTES)).to.equal(true)
      const starts = [250, 250, 700]
      expect(ranges).to.deep.equal([undefined, ...starts.map((start) => ({ start, end: 999 }))])
      expect(breaks).to.deep.equal([1, 2, 3])
      expect(streams.every(({ destroyed }) => destroyed)).to.equal(true)
    })

    it(`fail when a fourth stream did ${ending}, and close all streams`, async () => {
      const { asset, streams } = assetOf(Array(4).fill({ bytes: 10, ending }))
      const error = await rejection(resumed(asset, QUICK).open().then(buffer))
      expect(error)
        .to.have.property('message')
        .that.matches(/EIO|received its end/)
      expect(streams.map(({ destroyed }) => destroyed)).to.deep.equal([true, true, true, true])
    })
  }

  it('continue within the requested range', async () => {
    const { asset, ranges } = assetOf([{ bytes: 3, ending: 'fail' }])
    const stream = await resumed(asset, QUICK).open({ range: { start: 5, end: 14 } })
    expect(String(await buffer(stream))).to.equal('5678901234')
    expect(ranges).to.deep.equal([
      { start: 5, end: 14 },
      { start: 8, end: 14 },
    ])
  })

  it('retry after a failed reopen, but not after a failed first open', async () => {
    const gone = new Error('no such file')
    const later = assetOf([{ bytes: 10, ending: 'fail' }, gone, gone])
    expect((await buffer(await resumed(later.asset, QUICK).open())).equals(BYTES)).to.equal(true)
    const first = assetOf([gone])
    expect(await rejection(resumed(first.asset, QUICK).open())).to.equal(gone)
    expect(first.ranges).to.have.length(1)
  })

  for (const size of [950, 900])
    it(`fail when there are more than the expected ${size} bytes`, async () => {
      const { asset } = assetOf([])
      const stream = await resumed({ ...asset, size }, QUICK).open()
      expect(await rejection(buffer(stream)))
        .to.have.property('message')
        .that.includes('received more')
    })

  it('may be empty', async () => {
    const { asset, ranges } = assetOf([], Buffer.alloc(0))
    expect(await buffer(await resumed(asset).open())).to.have.length(0)
    expect(ranges).to.deep.equal([undefined])
  })

  it('wait before they retry', async () => {
    const { asset } = assetOf([{ bytes: 10, ending: 'fail' }])
    const start = Date.now()
    await buffer(await resumed(asset, { pausesMs: [120] }).open())
    expect(Date.now() - start).to.be.at.least(115)
  })

  for (const [what, fate, options] of [
    ['between two attempts', { bytes: 10, ending: 'fail' }, { pausesMs: [3_600_000] }],
    ['while the source hangs', { bytes: 10, ending: 'hang' }, QUICK],
  ] as const) {
    it(`end at once when the reader aborts ${what}`, async () => {
      const { asset, streams, ranges } = assetOf([fate])
      const controller = new AbortController()
      const told: number[] = []
      const lasting = resumed(asset, { ...options, onBreak: (_, times) => told.push(times) })
      const reading = rejection(lasting.open({ signal: controller.signal }).then(buffer))
      await pause(50)
      const before = [...told]
      const left = new Error('left')
      controller.abort(left)
      const error = (await reading) as Error
      expect([error, error.cause]).to.include(left)
      expect(streams[0]?.destroyed).to.equal(true)
      expect(ranges).to.have.length(1)
      // That a reader leaves is no break.
      expect(told).to.deep.equal(before)
    })
  }

  it('close streams that they do not read', async () => {
    const { asset, streams } = assetOf([])
    const unread = await resumed(asset).open()
    unread.destroy()
    const begun = await resumed(asset).open()
    for await (const _ of begun) break
    await eventually(() => expect(streams.map(({ destroyed }) => destroyed)).to.deep.equal([true, true]))
  })

  it('close the source while the reader is idle, and lose no bytes', async () => {
    const { asset, ranges, streams } = assetOf([], Buffer.concat(Array(400).fill(BYTES)))
    const stream = await resumed(asset, { pausesMs: [], idleMs: 20 }).open()
    const chunks: Buffer[] = []
    let reads = 0
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      reads += 1
      if (reads % 1000 !== 1) continue
      await pause(60)
      expect(streams.at(-1)?.destroyed, `after ${reads} reads`).to.equal(true)
    }
    expect(Buffer.concat(chunks).equals(Buffer.concat(Array(400).fill(BYTES)))).to.equal(true)
    expect(ranges.length).to.be.above(3)
    // One at a time.
    expect(streams.filter(({ destroyed }) => !destroyed)).to.have.length(0)
  })

  it('do not close the source while it is read', async () => {
    const { asset, ranges } = assetOf([], Buffer.concat(Array(100).fill(BYTES)))
    const stream = await resumed(asset, { idleMs: 40 }).open()
    let reads = 0
    for await (const _ of stream) if (++reads % 100 === 0) await pause(10)
    expect(reads).to.be.above(500)
    expect(ranges).to.have.length(1)
  })
})
