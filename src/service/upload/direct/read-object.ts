import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import { mapConcurrent } from '../../../core/async/map-concurrent.ts'
import { type Asset, readWhole } from '../../../core/bytes/asset.ts'
import { isFileReplaced, Problem } from '../../../core/problem.ts'

// S3 sends some 80 MB/s per connection. Four of them, with 32 MiB of memory, read a terabyte in an hour.
const RANGE_BYTES = 8 * 1024 ** 2
const RANGES_AT_ONCE = 4
// A read of hours must survive a short outage: a range is tried for a minute.
const TRIES = 7
const RETRY_MS = 1000
// Half a millisecond of SHA-256. Other requests are handled in between.
const SLICE_BYTES = 256 * 1024

/**
 * The bytes of an object in a remote store. A large one is read in ranges, several at the same time, each of which is tried again.
 *
 * @param options.rangeBytes a larger object is read in ranges of this size. Default: 8 MiB
 * @param options.retryMs the pause before the second try of a range. Each further one is twice as long. Default: 1 s
 * @throws Problem 503; `signal.reason`
 */
export async function* readObject(
  asset: Asset,
  {
    signal,
    rangeBytes = RANGE_BYTES,
    retryMs = RETRY_MS,
  }: { signal: AbortSignal | undefined; rangeBytes?: number; retryMs?: number },
): AsyncGenerator<Buffer> {
  const { size } = asset
  const opened = signal ? { signal } : {}
  if (size <= rangeBytes) {
    yield* await asset.open(opened)
    return
  }
  async function read(start: number): Promise<Buffer> {
    const range = { start, end: Math.min(size, start + rangeBytes) - 1 }
    for (let failures = 0; ; failures += 1) {
      try {
        return await readWhole(asset, { ...opened, range })
      } catch (error) {
        signal?.throwIfAborted()
        const isRefused = isFileReplaced(error) || (error instanceof Problem && error.status < 500)
        if (isRefused || failures + 1 === TRIES) throw error
        await pause(retryMs * 2 ** failures, undefined, opened).catch(() => {})
        signal?.throwIfAborted()
      }
    }
  }
  const options = { concurrency: RANGES_AT_ONCE, work: read, ...opened }
  for await (const bytes of mapConcurrent(startsOf(size, rangeBytes), options))
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      yield bytes.subarray(at, at + SLICE_BYTES)
      await setImmediate()
    }
}

function* startsOf(size: number, rangeBytes: number): Generator<number> {
  for (let start = 0; start < size; start += rangeBytes) yield start
}
