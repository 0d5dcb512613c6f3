import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Asset, OpenOptions } from './asset.ts'

/** Retries and timeouts of the streams of a {@link resumed} asset. */
export interface ResumeOptions {
  /** Pauses before the retries after an error, one per retry. */
  pausesMs?: readonly number[]
  /**
   * Idle timeout: the source is closed when the reader takes nothing for this long, and opened again at the same
   * position for the next read.
   */
  idleMs?: number
  /** Called before each retry. @param times number of the retry, from 1 */
  onBreak?: (error: unknown, times: number) => void
  /** Creates the observer of a stream that has no {@link OpenOptions.range}. */
  newObserver?: () => BytesObserver
}

/** Observes all bytes of a file while a reader takes them. */
export interface BytesObserver {
  add(chunk: Buffer): void
  /** Called after the last byte was taken. The stream ends when it resolves. It must not reject. */
  end(): Promise<void>
}

// A store that restarts, or a machine of it that is replaced, is back within seconds.
const PAUSES_MS = [100, 400, 1600]
// Well below the idle timeouts of other servers: nginx after 60 s, Ceph's gateway after 65 s.
const IDLE_MS = 5000

/**
 * Returns the same asset with streams that survive errors of their source. A source that fails or ends early is
 * opened again at the same position, up to three times. A source whose reader is idle is closed in the meantime.
 * {@link OpenOptions.range} ensures that the rest is read from the same file.
 */
export function resumed(asset: Asset, options: ResumeOptions = {}): Asset {
  return {
    ...asset,
    async open(given = {}) {
      const first = await asset.open(given)
      // Until the stream is read, an error of its source has no handler. The first read reports it.
      first.on('error', () => {})
      const stream = Readable.from(bytesOf(asset, first, { ...given, ...options }), { objectMode: false })
      // A stream that is destroyed before its first read never starts its generator.
      return stream.once('close', () => first.destroy())
    },
  }
}

/**
 * Reads the bytes of an asset in pieces, for one reader that may be slow. The same as a stream of a {@link resumed}
 * asset, without a second buffer. Resolves once it is certain that the bytes exist. The caller must read at least the
 * first piece.
 *
 * @throws Problem 404 when the file has been deleted; the iterator throws when there are fewer or more bytes than
 *   expected
 */
export async function piecesOf(
  asset: Asset,
  given: OpenOptions,
  options: ResumeOptions,
): Promise<AsyncGenerator<Buffer>> {
  // Without the options: the asset may be resumed itself, with its own pauses.
  const first = await asset.open(given)
  first.on('error', () => {})
  return bytesOf(asset, first, { ...given, ...options })
}

async function* bytesOf(
  asset: Asset,
  first: Readable,
  {
    range,
    signal,
    newPiece,
    pausesMs = PAUSES_MS,
    idleMs = IDLE_MS,
    onBreak,
    newObserver,
  }: ResumeOptions & OpenOptions,
): AsyncGenerator<Buffer> {
  const observer = range ? undefined : newObserver?.()
  const { start, end } = range ?? { start: 0, end: asset.size - 1 }
  const given = { ...(signal ? { signal } : {}), ...(newPiece ? { newPiece } : {}) }
  const tooMany = new Error(`expected ${end - start + 1} bytes of a file but received more`)
  let at = start
  let breaks = 0
  let source: Source | undefined = sourceOf(first)
  const closeSource = () => {
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
        closeSource()
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
      observer?.add(chunk)
      const idle = setTimeout(closeSource, idleMs)
      try {
        yield chunk
      } finally {
        clearTimeout(idle)
      }
    }
    // A connection can only be reused after its response has been read to the end.
    if (await source?.next().catch(() => undefined)) throw tooMany
    await observer?.end()
  } finally {
    closeSource()
  }
}

interface Source {
  stream: Readable
  /** @throws also at the end of the stream, which comes early here */
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
