import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Asset, ByteRange, OpenOptions } from '../../src/core/bytes/asset.ts'
import { newClientId, newClientToken } from '../../src/core/clients/client.ts'
import {
  clientRecordKey,
  derivativeKey,
  derivativePrefix,
  newFileId,
  newOriginal,
  type ObjectKey,
  recordKey,
  storedKey,
} from '../../src/core/files/object-key.ts'
import { knownFormat } from '../../src/core/media/formats.ts'
import { type Bucket, type Buckets, ChangedObject, type ListedObject } from '../../src/core/ports/bucket.ts'
import { Problem } from '../../src/core/problem.ts'
import { snapshot } from '../../src/core/storage/small-object.ts'
import { rejection } from '../support/rejection.ts'
import { everyNth, sized } from '../support/sized.ts'
import { seededRandom } from './random.ts'

export interface OpenedBuckets {
  buckets: Buckets
  close(): Promise<void>
}

const MIB = 1024 * 1024
// More than one part of a multipart upload, whose parts have at least 5 MiB.
const SEVERAL_PARTS = 6 * MIB
// No adapter may hand on a file in pieces larger than this: a slow reader holds one.
const LARGEST_CHUNK = MIB
// At once, where a test needs many objects: as many as an HTTP client's pool has connections.
const AT_ONCE = 32

/** Every character that a folder may hold and that a disk, a URL, XML or a shell reads in a way of its own. */
export const ODD_FOLDERS = [
  'a b',
  ' led by a space',
  'followed by one ',
  'a+b',
  'a&b',
  'a&amp;b',
  'a=b',
  'a~b',
  "a'b",
  'a"b',
  'a%41b',
  'a%b',
  'a%20b',
  'a<b>c',
  'a*b',
  'a(b)[c]{d}',
  'a|b^c`d',
  'a$b!c@d',
  'a,b;c',
  'a/b:c',
  '...',
  '.hidden',
  'a..b',
  '-rf',
  '__proto__',
  'übergrößen',
  'e\u0301 in two code points',
  '日本語',
  'עברית',
  '🎉👩‍👩‍👧',
  '\u00a0\u200b\ufeff',
  'a/b c/d+e/ü',
]

/** The first bytes of files whose type shows in them. */
const HEADS: Readonly<Record<string, Uint8Array>> = {
  'image/png': Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex'),
  'image/jpeg': Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
  'image/gif': Buffer.from('GIF89a\u0001\0\u0001\0', 'latin1'),
  'image/webp': Buffer.from('RIFF\u001a\0\0\0WEBPVP8L\u000d\0\0\0/\0\0\0', 'latin1'),
  'image/avif': Buffer.from('\0\0\0\u001cftypavif\0\0\0\0avifmif1miaf', 'latin1'),
  'image/svg+xml': Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>'),
  'video/mp4': Buffer.from('\0\0\0\u0018ftypisom\0\0\u0002\0isomiso2', 'latin1'),
  'application/pdf': Buffer.from('%PDF-1.7\n'),
}

/** Ways in which a put does not come to its end; each after `begun` bytes have been handed over. */
const INTERRUPTIONS: ReadonlyArray<{
  what: string
  /** Starts the put. @returns its outcome, and the error that has to come out of it when that is certain */
  start(put: Put, begun: Buffer): { outcome: Promise<void>; source: Readable; reason?: Error }
}> = [
  {
    what: 'a stream that fails',
    start(put, begun) {
      const reason = new Problem({ status: 413, code: 'too_large', detail: 'the source says no' })
      const source = endless(begun, () => source.destroy(reason))
      return { outcome: put(source), source, reason }
    },
  },
  {
    what: 'a generator that throws',
    start(put, begun) {
      const reason = new Problem({ status: 413, code: 'too_large', detail: 'the source says no' })
      const source = Readable.from(
        (function* () {
          yield begun
          throw reason
        })(),
        { objectMode: false },
      )
      return { outcome: put(source), source, reason }
    },
  },
  {
    what: 'a stream that is destroyed without an error',
    start(put, begun) {
      const source = endless(begun, () => source.destroy())
      return { outcome: put(source), source }
    },
  },
  {
    what: 'a stream that was destroyed before',
    start(put, begun) {
      const source = endless(begun, () => {})
      source.destroy()
      return { outcome: put(source), source }
    },
  },
  {
    what: 'a signal that was aborted before',
    start(put, begun) {
      const source = endless(begun, () => {})
      return { outcome: put(source, AbortSignal.abort()), source }
    },
  },
  {
    what: 'a signal that aborts while the stream is silent',
    start(put, begun) {
      const controller = new AbortController()
      const source = endless(begun, () => setTimeout(() => controller.abort(), 5))
      return { outcome: put(source, controller.signal), source }
    },
  },
  {
    what: 'a signal that aborts in the same turn',
    start(put, begun) {
      const controller = new AbortController()
      const source = Readable.from([begun])
      const outcome = put(source, controller.signal)
      controller.abort()
      return { outcome, source }
    },
  },
]

type Put = (source: Readable, signal?: AbortSignal) => Promise<void>

/** What every {@link Buckets} has to do, seen through the port alone. */
export function bucketContract(name: string, open: () => Promise<OpenedBuckets>): void {
  describe(`${name}: the contract of Bucket`, () => {
    let opened: OpenedBuckets
    let bucket: Bucket

    before(async () => {
      opened = await open()
    })
    after(() => opened.close())
    beforeEach(() => {
      bucket = newBucket()
    })

    /** The bucket of a new client. */
    const newBucket = (id = newClientId()) => opened.buckets.of({ id, token: newClientToken() })

    it('responds to ping', () => opened.buckets.ping())

    describe('find and open', () => {
      it('finds nothing under a key that was never stored', async () => {
        expect(await bucket.find(originalKey())).to.equal(undefined)
        expect(await bucket.find(originalKey(), { mediaType: 'image/png' })).to.equal(undefined)
      })

      it('assumes an object of a known size, and notices when it is missing or has another size', async () => {
        const key = originalKey()
        const known = { mediaType: 'image/png', size: 6, lastModified: new Date(1_000) }
        const outcomeOf = async (options?: OpenOptions) => {
          const asset = await bucket.assume(key, known)
          if (!asset) return 'missing'
          expect(asset).to.include({ mediaType: 'image/png', size: 6 })
          return Buffer.concat(await (await asset.open(options)).toArray()).toString()
        }
        const refusalOf = (options?: OpenOptions) =>
          outcomeOf(options).catch((error) =>
            error instanceof ChangedObject ? 'changed' : error instanceof Problem && error.status,
          )
        const start = { range: { start: 0, end: 2 } }
        for (const options of [undefined, start])
          expect(await refusalOf(options)).to.be.oneOf(['missing', 404])
        await put(bucket, key, 'abcdef')
        expect([await outcomeOf(), await outcomeOf(start)]).to.deep.equal(['abcdef', 'abc'])
        for (const other of ['', 'ab', 'abcdefg']) {
          await put(bucket, key, other)
          for (const options of [undefined, start])
            expect(await refusalOf(options), other).to.equal('changed')
        }
      })

      it('finds nothing under the name of a folder, or below the name of a file', async () => {
        const key = originalKey('a/b')
        await put(bucket, key, 'x')
        expect(await bucket.find(storedKey('a/b'))).to.equal(undefined)
        expect(await bucket.find(storedKey(`${key}/c`))).to.equal(undefined)
      })

      it('finds, lists and deletes nothing under a name that is too long for a file', async () => {
        const key = storedKey(`${'x'.repeat(300)}/image/png/a.png`)
        await put(bucket, originalKey(), 'another')
        expect(await bucket.find(key)).to.equal(undefined)
        expect(await bucket.delete([key])).to.deep.equal({ failed: [] })
        expect(await listed(bucket, key)).to.deep.equal([])
      })

      it('returns the bytes repeatedly, and to several readers at once', async () => {
        const key = originalKey()
        const bytes = someBytes(300_000)
        await put(bucket, key, bytes)
        const asset = await found(bucket, key)
        expect(asset.size).to.equal(bytes.length)
        const copies = await Promise.all([1, 2, 3, 4, 5].map(() => read(asset)))
        for (const copy of [...copies, await read(asset)]) expect(copy.equals(bytes)).to.equal(true)
      })

      const size = 700_001
      const ranges: Record<string, ByteRange> = {
        'the first byte': { start: 0, end: 0 },
        'the last byte': { start: size - 1, end: size - 1 },
        'one byte in the middle': { start: 65_536, end: 65_536 },
        'the first half': { start: 0, end: 350_000 },
        'the middle': { start: 65_535, end: 524_288 },
        'the last half': { start: 350_000, end: size - 1 },
        'all but the first': { start: 1, end: size - 1 },
        'all but the last': { start: 0, end: size - 2 },
        all: { start: 0, end: size - 1 },
      }
      it(`opens ranges: ${Object.keys(ranges).join(', ')}`, async () => {
        const key = originalKey()
        const bytes = someBytes(size)
        await put(bucket, key, bytes)
        const asset = await found(bucket, key)
        await Promise.all(
          Object.entries(ranges).map(async ([what, range]) => {
            const part = await read(asset, { range })
            expect(part.equals(bytes.subarray(range.start, range.end + 1)), what).to.equal(true)
          }),
        )
      })

      it('stores an empty object', async () => {
        const key = originalKey('', 'bin')
        await put(bucket, key, '')
        const asset = await found(bucket, key)
        expect(asset.size).to.equal(0)
        expect(await read(asset)).to.have.length(0)
      })

      it('stores 20 MB unchanged, and streams them in bounded chunks', async () => {
        const key = originalKey('', 'mp4')
        const chunk = someBytes(1_000_000)
        const sent = createHash('sha256')
        async function* source() {
          for (let number = 0; number < 20; number += 1) {
            const bytes = Buffer.concat([Buffer.from([number]), chunk])
            sent.update(bytes)
            yield bytes
          }
        }
        await bucket.put(key, Readable.from(source(), { objectMode: false }), { mediaType: 'video/mp4' })
        const asset = await found(bucket, key)
        expect(asset.size).to.equal(20 * 1_000_001)
        const received = createHash('sha256')
        let largest = 0
        for await (const bytes of await asset.open()) {
          largest = Math.max(largest, bytes.length)
          received.update(bytes)
        }
        expect(received.digest('hex')).to.equal(sent.digest('hex'))
        expect(largest).to.be.at.most(LARGEST_CHUNK)
      })

      it('returns when an object was stored', async () => {
        const key = originalKey()
        const start = Date.now()
        await put(bucket, key, 'x')
        const { lastModified } = await found(bucket, key)
        // Some stores round to seconds, and their clock is another machine's.
        expect(lastModified.getTime()).to.be.within(start - 5000, Date.now() + 5000)
      })

      it('throws a 404 when the object is deleted between find and open', async () => {
        const key = originalKey()
        await put(bucket, key, 'x')
        const asset = await found(bucket, key)
        await bucket.delete([key])
        for (const options of [{}, { range: { start: 0, end: 0 } }]) {
          const error = await rejection(asset.open(options))
          expect(error).to.be.instanceOf(Problem).with.property('status', 404)
        }
      })

      it('reads a range only of the object that was found', async () => {
        const key = originalKey()
        await put(bucket, key, 'first')
        const asset = await found(bucket, key)
        const range = { start: 1, end: 2 }
        expect(String(await read(asset, { range }))).to.equal('ir')
        await put(bucket, key, 'other')
        const error = await rejection(asset.open({ range }))
        expect(error).to.be.instanceOf(Problem).with.property('status', 503)
        // All of another one is a whole file as well.
        expect(String(await read(asset))).to.equal('other')
        expect(String(await read(await found(bucket, key), { range }))).to.equal('th')
      })

      it('never completes with fewer bytes when the object is deleted during the read', async () => {
        const key = originalKey('', 'bin')
        const bytes = someBytes(SEVERAL_PARTS)
        await put(bucket, key, bytes)
        const stream = await (await found(bucket, key)).open()
        const parts: Buffer[] = []
        const reading = (async () => {
          for await (const part of stream as AsyncIterable<Buffer>) {
            if (parts.length === 0) await bucket.delete([key])
            parts.push(part)
          }
        })()
        const failed = await reading.then(
          () => false,
          () => true,
        )
        expect(failed || Buffer.concat(parts).equals(bytes)).to.equal(true)
      })

      it('destroys an open stream when the signal aborts', async () => {
        const key = originalKey('', 'bin')
        await put(bucket, key, someBytes(SEVERAL_PARTS))
        const asset = await found(bucket, key)
        const controller = new AbortController()
        const stream = await asset.open({ signal: controller.signal })
        const failure = rejection(
          (async () => {
            for await (const _ of stream) controller.abort()
          })(),
        )
        expect(await failure).to.have.property('name', 'AbortError')
        expect(stream.destroyed).to.equal(true)
      })

      it('opens nothing when the signal is already aborted', async () => {
        const key = originalKey()
        await put(bucket, key, 'x')
        const asset = await found(bucket, key)
        const reason = new Error('left')
        expect(await rejection(asset.open({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
      })

      it('rejects to its caller whenever the signal aborts', async () => {
        const key = originalKey('', 'bin')
        await put(bucket, key, someBytes(SEVERAL_PARTS))
        const asset = await found(bucket, key)
        for (let i = 0; i < sized(10, 40); i += 1) {
          const controller = new AbortController()
          const outcome = read(asset, { signal: controller.signal }).then(
            ({ length }) => length,
            ({ name }) => name,
          )
          for (let turn = 0; turn < i % 5; turn += 1) await new Promise(setImmediate)
          controller.abort()
          // All of it may have been on its way by then.
          expect(await outcome).to.be.oneOf(i % 5 === 0 ? ['AbortError'] : ['AbortError', SEVERAL_PARTS])
        }
      })
    })

    describe('media types', () => {
      it('are those of the keys for originals', async () => {
        const formats = ['png', 'jpeg', 'svg', 'mp4', 'mp3', 'txt', 'json', 'woff2', 'bin']
        for (const format of everyNth(2, formats)) {
          const { mediaType } = knownFormat(format)
          const key = originalKey('a', format)
          await put(bucket, key, 'no telling what this is', mediaType)
          expect((await found(bucket, key)).mediaType, key).to.equal(mediaType)
        }
      })

      it('are those of the derivative, whatever the type of its original', async () => {
        const original = originalKey('', 'mp4')
        for (const [i, [mediaType, head]] of everyNth(2, Object.entries(HEADS)).entries()) {
          const key = derivativeKey(original, `n=${i}`)
          await put(bucket, key, head, mediaType)
          expect((await found(bucket, key)).mediaType).to.equal(mediaType)
        }
      })

      it('are those of the bytes or the key where a copy by another program has lost them', async () => {
        const unknown = 'binary/octet-stream'
        for (const [i, [mediaType, head]] of everyNth(2, Object.entries(HEADS)).entries()) {
          const key = derivativeKey(originalKey(), `w=${1000 + i}`)
          await put(bucket, key, head, unknown)
          expect((await found(bucket, key)).mediaType).to.equal(mediaType)
        }
        const original = originalKey()
        await put(bucket, original, 'no telling what this is', unknown)
        expect((await found(bucket, original)).mediaType).to.equal('image/png')
      })

      it('are returned for internal records', async () => {
        for (const key of [recordKey(originalKey('a')), clientRecordKey('someone')]) {
          await put(bucket, key, '{"a":1}', 'application/json')
          expect((await found(bucket, key)).mediaType).to.equal('application/json')
        }
      })

      it('are those that the caller passes', async () => {
        const key = originalKey('', 'txt')
        const mediaType = 'text/plain; charset=utf-8'
        await put(bucket, key, 'x', mediaType)
        expect((await bucket.find(key, { mediaType }))?.mediaType).to.equal(mediaType)
        const derivative = derivativeKey(key, 'waveform')
        await put(bucket, derivative, '[1,2]', 'application/json')
        const asset = await bucket.find(derivative, { mediaType: 'application/json' })
        expect(asset?.mediaType).to.equal('application/json')
      })
    })

    describe('put', () => {
      it('replaces an object with a larger one and with a smaller one', async () => {
        const key = originalKey()
        for (const size of [100_000, 300_000, 5, 0, 1]) {
          const bytes = someBytes(size)
          await put(bucket, key, bytes)
          const asset = await found(bucket, key)
          expect(asset.size).to.equal(size)
          expect((await read(asset)).equals(bytes)).to.equal(true)
        }
        expect(await listed(bucket, '')).to.deep.equal([key])
      })

      it('accepts strings, buffers and empty chunks, in any number of pieces', async () => {
        const key = originalKey()
        const pieces = ['ü', Buffer.from('bc'), '', Buffer.alloc(0), new Uint8Array([100])]
        await bucket.put(key, Readable.from(pieces, { objectMode: true }), { mediaType: 'image/png' })
        expect((await read(await found(bucket, key))).toString()).to.equal('übcd')
      })

      it('shows nothing of an object before it is complete', async () => {
        const key = originalKey('', 'bin')
        let release = () => {}
        const released = new Promise<void>((resolve) => {
          release = resolve
        })
        const begun = someBytes(SEVERAL_PARTS)
        async function* source() {
          yield begun
          await released
          yield Buffer.from('the end')
        }
        const storing = bucket.put(key, Readable.from(source(), { objectMode: false }), {
          mediaType: 'application/octet-stream',
        })
        await pause(20)
        expect(await bucket.find(key)).to.equal(undefined)
        expect(await listed(bucket, '')).to.deep.equal([])
        release()
        await storing
        expect((await found(bucket, key)).size).to.equal(begun.length + 'the end'.length)
      })

      it('leaves one complete object when several are put under one key at once', async () => {
        const key = originalKey('', 'bin')
        const versions = Array.from({ length: 8 }, (_, i) => Buffer.alloc(200_000 + i, i))
        await Promise.all(versions.map((bytes) => put(bucket, key, bytes)))
        const bytes = await read(await found(bucket, key))
        expect(versions.some((version) => version.equals(bytes))).to.equal(true)
      })

      for (const { what, start } of INTERRUPTIONS) {
        for (const size of everyNth(2, [0, 1000, SEVERAL_PARTS])) {
          it(`stores nothing of ${what} after ${size} bytes, and keeps the previous object`, async () => {
            const begun = someBytes(size)
            for (const before of [undefined, Buffer.from('as it was')]) {
              const key = originalKey('a/b', 'bin')
              if (before) await put(bucket, key, before)
              const attempt = start(
                (source, signal) =>
                  bucket.put(key, source, {
                    mediaType: 'application/octet-stream',
                    ...(signal ? { signal } : {}),
                  }),
                begun,
              )
              const error = await rejection(attempt.outcome)
              if (attempt.reason) expect(error).to.equal(attempt.reason)
              expect(attempt.source.destroyed, 'the source is destroyed').to.equal(true)
              const asset = await bucket.find(key)
              expect(asset && (await read(asset)).toString()).to.equal(before?.toString())
              expect(await listed(bucket, '')).to.deep.equal(before ? [key] : [])
              await bucket.delete([key])
            }
          })
        }
      }

      it('is all or nothing whenever the signal aborts', async () => {
        const [moments, ofEachTurn] = sized([30, 1], [60, 2])
        const outcomes = await Promise.all(
          Array.from({ length: moments }, async (_, i) => {
            const key = originalKey(`moment ${i}`, 'bin')
            const before = i % 2 === 0 ? undefined : 'as it was'
            if (before) await put(bucket, key, before)
            const controller = new AbortController()
            const bytes = someBytes(50_000)
            const storing = bucket.put(key, Readable.from([bytes]), {
              mediaType: 'application/octet-stream',
              signal: controller.signal,
            })
            const settled = storing.then(
              () => true,
              () => false,
            )
            for (let turn = 0; turn < Math.floor(i / ofEachTurn); turn += 1) await new Promise(setImmediate)
            controller.abort()
            const stored = await settled
            const asset = await bucket.find(key)
            const expected = stored ? bytes.toString('latin1') : before
            expect(asset && (await read(asset)).toString('latin1')).to.equal(expected)
            return stored
          }),
        )
        expect(outcomes[0], 'aborted in the turn of the call').to.equal(false)
      })
    })

    describe('delete', () => {
      it('deletes existing objects, and counts missing ones as deleted', async () => {
        const [there, missing, other] = [originalKey('a'), originalKey('a'), originalKey('a')]
        await put(bucket, there, 'x')
        await put(bucket, other, 'x')
        const deep = storedKey(`${other}/below/a/file`)
        expect(await bucket.delete([missing, there, missing, deep])).to.deep.equal({ failed: [] })
        expect(await bucket.find(there)).to.equal(undefined)
        expect(await listed(bucket, '')).to.deep.equal([other])
        expect(await bucket.delete([there])).to.deep.equal({ failed: [] })
      })

      it('accepts an empty list', async () => {
        const key = originalKey()
        await put(bucket, key, 'x')
        expect(await bucket.delete([])).to.deep.equal({ failed: [] })
        expect(await listed(bucket, '')).to.deep.equal([key])
      })

      it('accepts a key twice', async () => {
        const key = originalKey()
        await put(bucket, key, 'x')
        expect(await bucket.delete([key, key])).to.deep.equal({ failed: [] })
        expect(await bucket.find(key)).to.equal(undefined)
      })

      it('keeps the derivatives of an original, and the original of a derivative', async () => {
        const key = originalKey()
        const [first, second] = [derivativeKey(key, 'w=1'), derivativeKey(key, 'w=10')]
        for (const each of [key, first, second]) await put(bucket, each, 'x')
        await bucket.delete([first])
        expect(await listed(bucket, '')).to.deep.equal([key, second].sort())
        await bucket.delete([key])
        expect(await listed(bucket, '')).to.deep.equal([second])
      })

      it('allows the same keys to be stored again', async () => {
        const key = originalKey('a/b')
        for (const text of ['one', 'two', 'three']) {
          await put(bucket, key, text)
          expect((await read(await found(bucket, key))).toString()).to.equal(text)
          await bucket.delete([key])
          expect(await bucket.find(key)).to.equal(undefined)
        }
      })

      it('does not disturb concurrent puts in the same folder', async () => {
        const kept = Array.from({ length: 20 }, () => originalKey('one/folder'))
        await Promise.all(
          kept.map(async (key, i) => {
            for (let round = 0; round < sized(2, 10); round += 1) {
              const passing = derivativeKey(kept[(i + round) % kept.length] as ObjectKey, `n=${i}`)
              await put(bucket, passing, 'x')
              expect((await bucket.delete([passing])).failed).to.deep.equal([])
            }
            await put(bucket, key, 'x')
          }),
        )
        expect(await listed(bucket, '')).to.deep.equal(kept.sort())
      })

      it('leaves a complete object or nothing with a concurrent put', async () => {
        const key = originalKey('one/key')
        const bytes = someBytes(1000)
        const rounds = Array.from({ length: 8 }, async () => {
          for (let round = 0; round < sized(2, 15); round += 1) {
            await put(bucket, key, bytes)
            expect((await bucket.delete([key])).failed).to.deep.equal([])
          }
        })
        await Promise.all(rounds)
        expect(await bucket.find(key)).to.equal(undefined)
        expect(await listed(bucket, '')).to.deep.equal([])
      })
    })

    describe('list', () => {
      it('finds the derivatives of an original by its prefix, and only these', async () => {
        const key = originalKey('a')
        const derivatives = ['w=1', 'w=10', 'h=2&w=1', `~${'0'.repeat(32)}&~12345678`].map((variant) =>
          derivativeKey(key, variant),
        )
        const others = [
          key,
          originalKey('a'),
          derivativeKey(originalKey('a'), 'w=1'),
          recordKey(key),
          derivativeKey(storedKey(`b/${key}`), 'w=1'),
          derivativeKey(storedKey(key.slice('a/'.length)), 'w=1'),
          storedKey(`${key}x_w=1`),
        ]
        for (const each of [...derivatives, ...others]) await put(bucket, each, 'x')
        expect(await listed(bucket, derivativePrefix(key))).to.deep.equal(derivatives.sort())
      })

      it('finds by folder, by the beginning of a name, and without a prefix', async () => {
        const keys = [
          storedKey('a/b/c.txt'),
          storedKey('a/bc/d.txt'),
          storedKey('a/b.txt'),
          storedKey('ab/c.txt'),
          storedKey('b'),
          storedKey('.sluice/a/x.json'),
        ]
        for (const key of keys) await put(bucket, key, 'x')
        const expectations: Record<string, string[]> = {
          '': [...keys],
          'a/': ['a/b/c.txt', 'a/bc/d.txt', 'a/b.txt'],
          a: ['a/b/c.txt', 'a/bc/d.txt', 'a/b.txt', 'ab/c.txt'],
          'a/b': ['a/b/c.txt', 'a/bc/d.txt', 'a/b.txt'],
          'a/b/': ['a/b/c.txt'],
          'a/b.txt': ['a/b.txt'],
          'a/b.txt/': [],
          'a/b.txtx': [],
          'A/': [],
          'b/': [],
          nowhere: [],
          'no/where/': [],
          '.sluice/': ['.sluice/a/x.json'],
        }
        for (const [prefix, expected] of Object.entries(expectations)) {
          expect(await listed(bucket, prefix), `prefix "${prefix}"`).to.deep.equal(expected.sort())
        }
      })

      it('continues after a key, in an order that is always the same', async () => {
        const keys = ['a/b/c.txt', 'a/b.txt', 'a/b-c/d.txt', 'a/b0.txt', 'ab.txt', 'B.txt', 'c/ü/x.txt'].map(
          storedKey,
        )
        for (const key of keys) await put(bucket, key, 'x')
        const from = async (after: string, prefix = '') => {
          const found: ObjectKey[] = []
          for await (const key of bucket.list(prefix, { after })) found.push(key)
          return found
        }
        const all = await from('')
        expect(all.toSorted()).to.deep.equal(keys.toSorted())
        for (const [i, key] of all.entries()) expect(await from(key), key).to.deep.equal(all.slice(i + 1))
        const within = all.filter((key) => key.startsWith('a/b'))
        expect(await from(within[0] ?? '', 'a/b')).to.deep.equal(within.slice(1))
      })

      it('returns objects with their sizes and tags, in the order of the bytes of their keys', async () => {
        const keys = [
          'a/b/c.txt',
          'a/b.txt',
          'a/b-c/d.txt',
          'a/b0.txt',
          'ab.txt',
          'é.txt',
          '\uff21.txt',
          '😀.txt',
        ]
        for (const [i, key] of keys.entries()) await put(bucket, storedKey(key), 'x'.repeat(i))
        const objects = async (after: string, prefix = '') => {
          const found: ListedObject[] = []
          for await (const object of bucket.listObjects(prefix, { after })) found.push(object)
          return found
        }
        const all = await objects('')
        const sizes = new Map(keys.map((key, i) => [key, i]))
        const sorted = keys.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
        expect(all.map(({ key, size }) => [key, size])).to.deep.equal(
          sorted.map((key) => [key, sizes.get(key)]),
        )
        for (const [i, { key, tag }] of all.entries()) {
          expect(await objects(key)).to.deep.equal(all.slice(i + 1))
          expect((await bucket.find(key))?.tag).to.equal(tag)
        }
        // As the list of own objects skips a folder.
        expect(await objects('a/\u{10fffd}')).to.deep.equal(all.filter(({ key }) => !key.startsWith('a/')))
        const within = all.filter(({ key }) => key.startsWith('a/b'))
        expect(await objects('', 'a/b')).to.deep.equal(within)
        expect(await objects(within[0]?.key ?? '', 'a/b')).to.deep.equal(within.slice(1))
      })

      it('has the tag that a put has stated, and another one after the next put', async () => {
        const key = storedKey('a/b.txt')
        const tags: Array<string | undefined> = []
        for (const text of ['one', 'two', 'long'.repeat(1000)]) {
          let stated: string | undefined
          const tagged = (tag: string) => {
            stated = tag
          }
          await bucket.put(key, Readable.from([Buffer.from(text)]), { mediaType: 'text/plain', tagged })
          const listed: Array<string | undefined> = []
          for await (const { tag } of bucket.listObjects('')) listed.push(tag)
          expect(listed).to.deep.equal([stated])
          expect(stated).to.match(/^[^"]+$/)
          tags.push(stated)
        }
        expect(new Set(tags).size).to.equal(3)
      })

      it('has the tag of the bytes that a snapshot has read, when they are replaced by as many', async () => {
        const key = storedKey('a/b.txt')
        await put(bucket, key, 'one')
        let isReplaced = false
        const find: Bucket['find'] = async (...args) => {
          const asset = await bucket.find(...args)
          if (!isReplaced) await put(bucket, key, 'two')
          isReplaced = true
          return asset
        }
        const read = await snapshot({ ...bucket, find }, key)
        expect(read?.bytes.toString()).to.equal('two')
        for await (const { tag } of bucket.listObjects('')) expect(read?.tag).to.equal(tag)
      })

      it('can be ended early', async () => {
        for (const letter of 'abc') await put(bucket, storedKey(`x/${letter}`), 'x')
        let given = 0
        for await (const key of bucket.list('x/')) {
          expect(key).to.match(/^x\/[abc]$/)
          given += 1
          break
        }
        expect(given).to.equal(1)
      })

      // The pages of S3 have tests of their own.
      const many = sized(40, 1200)

      it(`returns ${many} keys, each once; delete accepts ${1.25 * many}, including missing ones`, async () => {
        const original = originalKey('many', 'mp4')
        const keys = Array.from({ length: many }, (_, i) => derivativeKey(original, `n=${i}`))
        const stays = derivativeKey(originalKey('many', 'mp4'), 'n=0')
        const work = [...keys, stays].values()
        await Promise.all(
          Array.from({ length: AT_ONCE }, async () => {
            for (const key of work) await put(bucket, key, 'x')
          }),
        )
        expect(await listed(bucket, derivativePrefix(original))).to.deep.equal([...keys].sort())
        const missing = Array.from({ length: many / 4 }, (_, i) => derivativeKey(original, `missing=${i}`))
        expect(await bucket.delete([...missing, ...keys])).to.deep.equal({ failed: [] })
        expect(await listed(bucket, '')).to.deep.equal([stays])
      })
    })

    describe('clients', () => {
      it('see nothing of each other under equal keys', async () => {
        const other = newBucket()
        const key = originalKey('a')
        await put(bucket, key, 'mine')
        expect(await other.find(key)).to.equal(undefined)
        expect(await listed(other, '')).to.deep.equal([])
        await put(other, key, 'theirs')
        expect((await read(await found(bucket, key))).toString()).to.equal('mine')
        expect(await other.delete([key])).to.deep.equal({ failed: [] })
        expect((await read(await found(bucket, key))).toString()).to.equal('mine')
      })

      it('have roots that do not contain each other, even when one ID begins with the other', async () => {
        const id = newClientId()
        const [short, long] = [newBucket(id), newBucket(`${id}x`)]
        await put(short, storedKey('x/y'), 'short')
        await put(long, storedKey('y'), 'long')
        expect(await listed(short, '')).to.deep.equal(['x/y'])
        expect(await listed(long, '')).to.deep.equal(['y'])
        expect(await listed(short, 'x')).to.deep.equal(['x/y'])
      })

      it('find their objects again by ID', async () => {
        const id = newClientId()
        const key = originalKey()
        await put(newBucket(id), key, 'x')
        expect((await read(await found(newBucket(id), key))).toString()).to.equal('x')
      })
    })

    describe('keys', () => {
      const odd = ODD_FOLDERS.map((folder) => originalKey(folder, 'txt'))

      it('may contain every unusual character that a folder may contain', async () => {
        await Promise.all(odd.map((key) => put(bucket, key, key, 'text/plain')))
        for (const key of odd) {
          expect((await read(await found(bucket, key))).toString()).to.equal(key)
          expect(await listed(bucket, key.slice(0, key.indexOf('/') + 1))).to.include(key)
        }
        expect(await listed(bucket, '')).to.deep.equal([...odd].sort())
        const [first, ...rest] = odd
        expect(await bucket.delete(rest)).to.deep.equal({ failed: [] })
        expect(await listed(bucket, '')).to.deep.equal([first])
      })

      it('may have any length', async () => {
        const format = knownFormat('vcard')
        const { key } = newOriginal({ folder: 'f'.repeat(200), format, id: newFileId() })
        const longest = derivativeKey(key, `w=${'1'.repeat(178)}&~12345678`)
        for (const each of [key, longest, recordKey(key)]) {
          await put(bucket, each, 'x')
          expect((await found(bucket, each)).size).to.equal(1)
        }
        expect(await listed(bucket, derivativePrefix(key))).to.deep.equal([longest])
      })

      it('are percent-encoded in the public URL, whether the object exists or not', () => {
        for (const key of [...odd, derivativeKey(originalKey(), 'h=1&w=2')]) {
          const url = bucket.urlOf(key)
          // A plus is a space to some servers; what a URL parser would still have to encode is not encoded.
          expect(url).to.match(/^https?:\/\/[^\s+"<>]+$/)
          expect(new URL(url).href).to.equal(url)
          const { pathname, search, hash } = new URL(url)
          expect(search + hash).to.equal('')
          const segments = pathname.split('/').slice(-key.split('/').length)
          expect(segments.map(decodeURIComponent).join('/')).to.equal(key)
        }
      })
    })
  })
}

function originalKey(folder = '', format = 'png'): ObjectKey {
  return newOriginal({ folder, format: knownFormat(format), id: newFileId() }).key
}

async function put(
  bucket: Bucket,
  key: ObjectKey,
  bytes: string | Uint8Array,
  mediaType = 'image/png',
): Promise<void> {
  await bucket.put(key, Readable.from([Buffer.from(bytes)]), { mediaType })
}

async function found(bucket: Bucket, key: ObjectKey): Promise<Asset> {
  const asset = await bucket.find(key)
  if (!asset) throw new Error(`expected an object under ${key}`)
  return asset
}

async function read(asset: Asset, options: OpenOptions = {}): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of await asset.open(options)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function listed(bucket: Bucket, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const key of bucket.list(prefix)) keys.push(key)
  return keys.sort()
}

function someBytes(size: number): Buffer {
  const random = seededRandom(size)
  const block = Buffer.from(Array.from({ length: 4093 }, () => random.below(256)))
  return Buffer.alloc(size, block)
}

/** A stream that yields `begun`, then calls `then` and neither continues nor ends. */
function endless(begun: Buffer, then: () => void): Readable {
  let given = false
  return new Readable({
    read() {
      if (given) return then()
      given = true
      if (begun.length > 0) this.push(begun)
      else then()
    },
  })
}
