import type { SluiceClient } from '../../../../../client/index.ts'
import { reachable } from '../../../api/base.ts'
import { ACCEPT } from '../../../api/pictured.ts'
import { type Delivered, publicUrl } from '../delivery.ts'

/** A rendered result. */
export interface Result {
  /** For this page, as a source of pictures and players. */
  url: string
  /** The URL that the snippets show. */
  publicUrl: string
  mediaType: string
  bytes: number | undefined
  /** From the request to the last byte; to the first one for what players load. It includes the job that rendered the result. */
  ms: number
  /** Whether this request waited for a job. */
  hadJob: boolean
  /** What the service changed: the header `X-Sluice-Transform`. */
  note: string | undefined
  /** The bytes of a picture or text. Players load theirs piece by piece. */
  blob: Blob | undefined
}

/** Progress of a media job, from 0 to 1. Undefined: it waits. */
export type Progress = (value: number | undefined) => void

/** A response with an error. */
export class RenderError extends Error {
  readonly requestId: string | undefined
  /** The parameter that caused it. */
  readonly param: string | undefined
  readonly status: number

  constructor(
    detail: string,
    { status, param, requestId }: { status: number; param?: string; requestId?: string | undefined },
  ) {
    super(detail)
    this.status = status
    this.param = param
    this.requestId = requestId
  }
}

const POLL_MS = 700

/** Requests a result, and waits for its job if it needs one. @throws RenderError */
export async function render(
  sluice: SluiceClient,
  given: { file: Delivered; query: string; signal: AbortSignal; onProgress: Progress },
): Promise<Result> {
  const { signal, onProgress } = given
  const shared = await publicUrl(sluice, given)
  const url = reachable(shared)
  let hadJob = false
  const begin = performance.now()
  for (;;) {
    const response = await fetch(url, { headers: { Accept: ACCEPT }, credentials: 'omit', signal })
    if (response.status === 423) {
      const { job } = await response.json()
      hadJob = true
      await jobEnd(sluice, { job: String(job), signal, onProgress })
      continue
    }
    if (!response.ok) throw await errorOf(response)
    const mediaType = (response.headers.get('Content-Type') ?? '').split(';')[0] ?? ''
    const isPlayed = /^(?:video|audio)\//.test(mediaType) || isPlaylist(mediaType)
    if (isPlayed) await response.body?.cancel()
    const blob = isPlayed ? undefined : await response.blob()
    const length = response.headers.get('Content-Length')
    return {
      url,
      publicUrl: shared,
      mediaType,
      bytes: blob?.size ?? (length === null ? undefined : Number(length)),
      ms: Math.round(performance.now() - begin),
      hadJob,
      note: response.headers.get('X-Sluice-Transform') ?? undefined,
      blob,
    }
  }
}

/** Whether it is a playlist of HLS. */
export function isPlaylist(mediaType: string): boolean {
  return /mpegurl$/i.test(mediaType)
}

async function jobEnd(
  sluice: SluiceClient,
  { job, signal, onProgress }: { job: string; signal: AbortSignal; onProgress: Progress },
): Promise<void> {
  for (;;) {
    const { state, progress, error } = await sluice.jobs.get(reachable(job), { signal })
    onProgress(state === 'waiting' ? undefined : progress)
    if (state === 'failed') {
      const param = error?.members?.param
      throw new RenderError(error?.detail ?? '', {
        status: error?.status ?? 0,
        ...(typeof param === 'string' && { param }),
      })
    }
    if (state === 'done') return
    await pause(POLL_MS, signal)
  }
}

async function errorOf(response: Response): Promise<RenderError> {
  const problem: Record<string, unknown> = await response.json().catch(() => ({}))
  return new RenderError(String(problem.detail ?? `${response.status} ${response.statusText}`), {
    status: response.status,
    ...(typeof problem.param === 'string' && { param: problem.param }),
    requestId: response.headers.get('X-Request-Id') ?? undefined,
  })
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal.addEventListener('abort', abort, { once: true })
  })
}
