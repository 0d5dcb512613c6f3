import type { DirectUpload } from '../../generated/api.ts'
import { SluiceError } from '../../http/problem.ts'
import type { UploadProgress } from '../../http/progress.ts'
import type { Api } from '../../http/request.ts'
import { backoffMs } from '../../http/retry.ts'
import { wait } from '../../http/wait.ts'
import type { Source } from '../chunks.ts'
import { isTransient, PATIENCE_MS } from '../tus.ts'
import type { Place } from './places.ts'

/** A file whose parts are sent. */
export interface PartsUpload {
  api: Api
  source: Source
  onProgress: ((progress: UploadProgress) => void) | undefined
  signal: AbortSignal | undefined
}

type Part = DirectUpload['requests'][number]

const PARTS_AT_ONCE = 3
// A connection that takes longer is one to an address that does not respond.
const REACH_MS = 10_000

/**
 * Sends parts of a file to the bucket: the missing ones.
 *
 * @returns false when the bucket has no part of the file, and accepts none from here
 * @throws SluiceError when it refuses a part, or accepts none for two minutes
 */
export async function sendParts(
  { api, source, signal, onProgress }: PartsUpload,
  place: Place,
  parts: readonly Part[],
): Promise<boolean> {
  const { size: totalBytes = 0 } = source
  const end = new AbortController()
  const abort = () => end.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted) abort()
  const received = parts.reduce((rest, { size }) => rest - size, totalBytes)
  const sent = parts.map(() => 0)
  let progressAt = performance.now()
  const report = (i: number, bytes: number) => {
    sent[i] = bytes
    place.isReached = true
    progressAt = performance.now()
    onProgress?.({ sentBytes: sent.reduce((sum, one) => sum + one, received), totalBytes })
  }
  const send = async (i: number) => {
    const { url, headers, start, size, method } = parts[i] as Part
    const { bytes } = await source.chunk(start, size)
    const onSent = (count: number) => report(i, Math.min(count, size))
    const request = { method, path: url, headers, isAnonymous: true, retries: false } as const
    await api.send({ ...request, kind: 'transfer', body: bytes, onSent, signal: end.signal })
    report(i, size)
  }
  /** Repeats a part that the bucket could not accept, for as long as others arrive, and two minutes more. */
  const sendPatiently = async (i: number) => {
    let firstFailureAt: number | undefined
    for (let failures = 0; ; failures += 1) {
      try {
        return await send(i)
      } catch (error) {
        end.signal.throwIfAborted()
        if (!(error instanceof SluiceError) || !isTransient(error)) throw error
        firstFailureAt ??= performance.now()
        const delayMs = backoffMs(failures)
        if (performance.now() + delayMs > Math.max(firstFailureAt, progressAt) + PATIENCE_MS) throw error
        await wait(delayMs, end.signal)
      }
    }
  }
  const unreachable = new SluiceError('The bucket does not respond.', { code: 'network' })
  /** The first part alone: its failure decides whether the file is sent to the service instead. */
  const isAccepted = async () => {
    const giveUp = () => place.isReached || end.abort(unreachable)
    const timer = api.seesProgress ? setTimeout(giveUp, REACH_MS) : undefined
    try {
      await send(0)
      return true
    } catch (error) {
      if (error === unreachable) return false
      end.signal.throwIfAborted()
      if (!(error instanceof SluiceError)) throw error
      const isReached = place.isReached || error.status > 0
      if (!isReached || !isTransient(error)) return false
      await sendPatiently(0)
      return true
    } finally {
      clearTimeout(timer)
    }
  }
  try {
    onProgress?.({ sentBytes: received, totalBytes })
    let next = 0
    if (received === 0) {
      if (!(await isAccepted())) return false
      next = 1
    }
    const worker = async () => {
      while (next < parts.length) {
        const i = next
        next += 1
        await sendPatiently(i)
      }
    }
    await Promise.all(Array.from({ length: PARTS_AT_ONCE }, worker))
    return true
  } catch (error) {
    // Another network may not reach it.
    if (error instanceof SluiceError && error.code === 'network') place.isReached = false
    // The other parts must not continue.
    end.abort(error)
    throw error
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}
