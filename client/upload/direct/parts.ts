import type { DirectUpload } from '../../generated/api.ts'
import { SluiceError } from '../../http/problem.ts'
import type { UploadProgress } from '../../http/progress.ts'
import type { Api } from '../../http/request.ts'
import { backoffMs } from '../../http/retry.ts'
import { wait } from '../../http/wait.ts'
import type { Source } from '../chunks.ts'
import { isTransient, PATIENCE_MS } from '../tus.ts'
import type { BucketAccess } from './bucket-access.ts'

/** A file whose parts are sent. */
export interface PartsUpload {
  api: Api
  source: Source
  onProgress: ((progress: UploadProgress) => void) | undefined
  signal: AbortSignal | undefined
}

type Part = DirectUpload['requests'][number]

/** The requests for the parts that the bucket does not have: for all, or the first ones. */
export interface MissingParts {
  requests: readonly Part[]
  /** The size of all parts that the bucket does not have. */
  missingBytes: number
}

const PARTS_AT_ONCE = 3
// A connection that takes longer is one to an address that does not respond.
const REACH_MS = 10_000
// For a redirect, fetch in Node would hold all that it has sent in memory. URLs are signed for the address of the bucket. Cloudflare
// Workers refuse this option, and may have the `process` of Node.
const { process, navigator } = globalThis as {
  process?: { versions?: { node?: string } }
  navigator?: { userAgent?: string }
}
const IN_NODE = process?.versions?.node && navigator?.userAgent !== 'Cloudflare-Workers'

/**
 * Sends parts of a file to the bucket: the missing ones, or the first of them.
 *
 * @returns false when the bucket has no part of the file, and accepts none from here
 * @throws SluiceError when it refuses a part, or accepts none for two minutes
 */
export async function sendParts(
  { api, source, signal, onProgress }: PartsUpload,
  access: BucketAccess,
  { requests: parts, missingBytes }: MissingParts,
): Promise<boolean> {
  const { size: totalBytes = 0 } = source
  const end = new AbortController()
  const abort = () => end.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted) abort()
  const received = totalBytes - missingBytes
  const sent = parts.map(() => 0)
  const reached = [...sent]
  let progressAt = performance.now()
  const report = (i: number, bytes: number) => {
    sent[i] = bytes
    access.isReached = true
    // A repetition of the same bytes is no progress: a proxy may refuse each part at its end.
    if (bytes > (reached[i] ?? 0)) {
      reached[i] = bytes
      progressAt = performance.now()
    }
    onProgress?.({ sentBytes: sent.reduce((sum, one) => sum + one, received), totalBytes })
  }
  const send = async (i: number) => {
    const { url, headers, start, size, method } = parts[i] as Part
    const { bytes } = await source.chunk(start, size)
    const onSent = (count: number) => report(i, Math.min(count, size))
    const redirect = IN_NODE ? 'error' : undefined
    const request = { method, path: url, headers, isAnonymous: true, redirect, retries: false } as const
    await api.send({ ...request, kind: 'transfer', body: bytes, onSent, signal: end.signal })
    report(i, size)
  }
  /**
   * Repeats a part that the bucket could not accept, for as long as others arrive, and two minutes more.
   *
   * @param attemptsToReach the number of attempts while no request has arrived
   */
  const sendPatiently = async (i: number, attemptsToReach = Number.POSITIVE_INFINITY) => {
    let firstFailureAt: number | undefined
    for (let failures = 0; ; failures += 1) {
      try {
        return await send(i)
      } catch (error) {
        end.signal.throwIfAborted()
        if (!(error instanceof SluiceError)) throw error
        access.isReached ||= error.status > 0
        if (!isTransient(error) || (!access.isReached && failures + 1 >= attemptsToReach)) throw error
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
    const giveUp = () => access.isReached || end.abort(unreachable)
    const timer = api.seesProgress ? setTimeout(giveUp, REACH_MS) : undefined
    try {
      // Without progress, a lost connection to the bucket looks like a bucket that cannot be reached.
      await sendPatiently(0, api.seesProgress ? 1 : 2)
      return true
    } catch (error) {
      if (end.signal.aborted && error !== unreachable) throw error
      // A 403 for a URL that was just signed is a refusal.
      if (!(error instanceof SluiceError) || (isStale(error) && error.status !== 403)) throw error
      access.isReached = false
      return false
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
        await sendPatiently(i).catch((error: unknown) => {
          next = parts.length
          // Parts whose URLs were still valid when their requests began arrive.
          if (!isStale(error)) end.abort(error)
          throw error
        })
      }
    }
    const ends = await Promise.allSettled(Array.from({ length: PARTS_AT_ONCE }, worker))
    for (const one of ends) if (one.status === 'rejected') throw one.reason
    return true
  } catch (error) {
    // Another network may not reach it.
    if (error instanceof SluiceError && error.code === 'network') access.isReached = false
    // The other parts must not continue.
    end.abort(error)
    throw error
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

/** Whether URLs or their credentials have expired, another program has completed the upload, or the bucket has lost a part. */
export function isStale(error: unknown): boolean {
  if (!(error instanceof SluiceError)) return false
  // S3 responds with 400 to expired credentials (ExpiredToken), and when a body stalls (RequestTimeout).
  return error.code === 'upload_incomplete' || (!error.problem && [400, 403, 404].includes(error.status))
}
