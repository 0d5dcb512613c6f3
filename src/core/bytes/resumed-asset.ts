import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Asset, OpenOptions } from './asset.ts'

/** When streams of a {@link resumed} asset give up, and what they let go of. */
export interface ResumeOptions {
  /** Before each time that a stream which broke is opened again; as many times as there are numbers. */
  pausesMs?: readonly number[]
  /** A reader that takes nothing for this long finds the file opened again, where it was. */
  idleMs?: number
  /** It broke, and goes on; a number from 1. */
  onBreak?: (error: unknown, times: number) => void
}

// A store that restarts, or a machine of it that is replaced, is back within seconds.
const PAUSES_MS = [100, 400, 1600]
// Well before others close a connection that stands still: nginx after 60 s, Ceph's gateway after 65 s.
const IDLE_MS = 5000

/**
 * The same asset, whose streams live longer than those that they read: one that breaks, or ends early, is opened again
 * where it broke, three times, and one that waits for its reader is closed meanwhile. The rest is of the same file:
 * {@link OpenOptions.range} sees to that.
 */
export function resumed(asset: Asset, options: ResumeOptions = {}): Asset {
  return {
    ...asset,
    async open(given = {}) {
      const first = await asset.open(given)
      // Until it is read, a failure of it has nobody to tell; the first read finds it.
      first.on('error', () => {})
      const stream = Readable.from(bytesOf(asset, first, { ...given, ...options }), { objectMode: false })
      // A stream that is destroyed before it is read never begins its generator.
      return stream.once('close', () => first.destroy())
    },
  }
}

/**
 * The bytes of an asset in pieces, for one reader that may be slow: the same as a stream of a {@link resumed} asset, without a
 * second buffer. Resolves once it is certain that the bytes are there. The caller must read at least the first piece.
 *
 * @throws Problem 404 when the file is gone by now; the pieces fail rather than be fewer or more than expected
 */
export async function piecesOf(
  asset: Asset,
  options: OpenOptions & ResumeOptions,
): Promise<AsyncGenerator<Buffer>> {
  const first = await asset.open(options)
  first.on('error', () => {})
  return bytesOf(asset, first, options)
}

async function* bytesOf(
  asset: Asset,
  first: Readable,
  { range, signal, newPiece, pausesMs = PAUSES_MS, idleMs = IDLE_MS, onBreak }: ResumeOptions & OpenOptions,
): AsyncGenerator<Buffer> {
  const { start, end } = range ?? { start: 0, end: asset.size - 1 }
  const given = { ...(signal ? { signal } : {}), ...(newPiece ? { newPiece } : {}) }
  const tooMany = new Error(`expected ${end - start + 1} bytes of a file but received more`)
  let at = start
  let breaks = 0
  let source: Source | undefined = sourceOf(first)
  const letGo = () => {
    source?.stream.destroy()
    source = undefined
  }
  try {
    while (at <= end) {
      let chunk: Buffer
      try {
        source ??= sourceOf(await asset.open({ range: { start: at, end }, ...given }))
        chunk = await source.next()
      } catch (error) {
        letGo()
        signal?.throwIfAborted()
        const pauseMs = pausesMs[breaks]
        if (pauseMs === undefined) throw error
        breaks += 1
        onBreak?.(error, breaks)
        await pause(pauseMs, undefined, given)
        continue
      }
      at += chunk.length
      if (at > end + 1) throw tooMany
      const idle = setTimeout(letGo, idleMs)
      try {
        yield chunk
      } finally {
        clearTimeout(idle)
      }
    }
    // A connection is good for another file only when its last one has come to its end.
    if (await source?.next().catch(() => undefined)) throw tooMany
  } finally {
    letGo()
  }
}

interface Source {
  stream: Readable
  /** @throws also at the end, which is an early one */
  next(): Promise<Buffer>
}

function sourceOf(stream: Readable): Source {
  stream.on('error', () => {})
  const chunks = stream[Symbol.asyncIterator]()
  return {
    stream,
    async next() {
      const { done, value } = await chunks.next()
      if (done) throw new Error('expected more bytes of a file but received its end')
      return value as Buffer
    },
  }
}
