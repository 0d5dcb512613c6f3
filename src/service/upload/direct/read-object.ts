import { setImmediate } from 'node:timers/promises'
import { mapConcurrent } from '../../../core/async/map-concurrent.ts'
import { patiently } from '../../../core/async/patiently.ts'
import type { Asset } from '../../../core/bytes/asset.ts'
import { isFinal, LARGE_BYTES, PATIENT } from './patience.ts'

// S3 sends some 80 MB/s per connection. Four of them read a terabyte in an hour.
const RANGE_BYTES = 8 * 1024 ** 2
const RANGES_AT_ONCE = 4
// A reader has up to four ranges, 32 MiB. Two of them at a time bound this to 64 MiB.
const FAST_READERS = 2
// Half a millisecond of SHA-256. Other requests are handled in between.
const SLICE_BYTES = 256 * 1024

/**
 * Reads the bytes of an object in a remote store. A large one is read in several ranges at the same time, and a range that fails is
 * tried for a minute.
 *
 * @throws Problem 503; `signal.reason`
 */
export type ReadObject = (asset: Asset, signal: AbortSignal | undefined) => AsyncGenerator<Buffer>

/**
 * The reader of one process: only a few objects are read in ranges at the same time, which bounds its memory. Others are read
 * in one stream each, which continues where it has failed.
 *
 * @param options.largeBytes a smaller object is read in one stream, once. Default: {@link LARGE_BYTES}
 * @param options.rangeBytes Default: 8 MiB
 * @param options.retryMs the pause before the second try. Each further one is twice as long. Default: 1 s
 */
export function createReadObject({
  largeBytes = LARGE_BYTES,
  rangeBytes = RANGE_BYTES,
  retryMs = PATIENT.retryMs,
}: {
  largeBytes?: number
  rangeBytes?: number
  retryMs?: number
} = {}): ReadObject {
  let fast = 0

  const patience = (signal: AbortSignal | undefined) => ({ ...PATIENT, retryMs, signal, isFinal })

  async function* inRanges(asset: Asset, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
    const { size } = asset
    const work = (start: number) =>
      patiently(
        () => readRange(asset, { start, end: Math.min(size, start + rangeBytes) - 1 }, signal),
        patience(signal),
      )
    const options = { concurrency: RANGES_AT_ONCE, work, ...(signal ? { signal } : {}) }
    for await (const bytes of mapConcurrent(startsOf(size, rangeBytes), options))
      for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
        yield bytes.subarray(at, at + SLICE_BYTES)
        await setImmediate()
      }
  }

  async function* inOneStream(asset: Asset, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
    const { size } = asset
    let at = 0
    async function opened() {
      const range = { start: at, end: size - 1 }
      const source = await asset.open({ range, ...(signal ? { signal } : {}) })
      return source[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    }
    let source: AsyncIterator<Buffer> | undefined
    const next = () =>
      patiently(async () => {
        try {
          source ??= await opened()
          const { value, done } = await source.next()
          if (!done) return value as Buffer
          throw new Error(`expected ${size} bytes of a file but received ${at}`)
        } catch (error) {
          source = undefined
          throw error
        }
      }, patience(signal))
    try {
      while (at < size) {
        const bytes = await next()
        at += bytes.length
        yield bytes
      }
    } finally {
      await source?.return?.()
    }
  }

  return async function* read(asset, signal) {
    if (asset.size < largeBytes) {
      yield* (await asset.open(signal ? { signal } : {})) as AsyncIterable<Buffer>
      return
    }
    if (fast === FAST_READERS) {
      yield* inOneStream(asset, signal)
      return
    }
    fast += 1
    try {
      yield* inRanges(asset, signal)
    } finally {
      fast -= 1
    }
  }
}

/** Without a second copy of the bytes, which joining chunks would make. */
async function readRange(
  asset: Asset,
  range: { start: number; end: number },
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(range.end - range.start + 1)
  let length = 0
  for await (const chunk of (await asset.open({
    range,
    ...(signal ? { signal } : {}),
  })) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bytes.length) break
    bytes.set(chunk, length - chunk.length)
  }
  if (length !== bytes.length)
    throw new Error(`expected ${bytes.length} bytes of a file but received ${length}`)
  return bytes
}

function* startsOf(size: number, rangeBytes: number): Generator<number> {
  for (let start = 0; start < size; start += rangeBytes) yield start
}
