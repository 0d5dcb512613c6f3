import type { DirectUpload, FileRecord } from '../generated/api.ts'
import { SluiceError } from '../http/problem.ts'
import type { UploadProgress } from '../http/progress.ts'
import type { Api } from '../http/request.ts'
import { backoffMs } from '../http/retry.ts'
import { wait } from '../http/wait.ts'
import type { Source } from './chunks.ts'
import type { UploadOptions } from './options.ts'

/** A file that is sent straight to the bucket. */
export interface BucketUpload {
  api: Api
  source: Source
  /** What is stored with the file. A link has its own folder. */
  options?: Pick<UploadOptions, 'folder' | 'tags' | 'metadata' | 'focalPoint'>
  /** Returns the signed link that authorizes the upload, in place of the secret. */
  link?: () => Promise<string>
  onProgress: ((progress: UploadProgress) => void) | undefined
  signal: AbortSignal | undefined
}

type Part = DirectUpload['requests'][number]

const PARTS_AT_ONCE = 3
// How long a part is retried while the bucket or the network is unavailable.
const PATIENCE_MS = 120_000

/**
 * Sends a file to the bucket in one or more requests, each of which is retried by itself, and has the service store it.
 *
 * @returns undefined when the service does not offer it, or the bucket accepts nothing from here, for example a page that its CORS rules
 *   do not name. Then the file has to be sent to the service
 * @throws SluiceError when the upload is refused, or when the bucket accepts nothing for two minutes
 */
export async function uploadToBucket(upload: BucketUpload): Promise<FileRecord | undefined> {
  const { api, source, signal, onProgress } = upload
  const totalBytes = source.size
  // The bytes of a stream can be read only once, and its size is unknown.
  if (totalBytes === undefined || totalBytes === 0 || !source.isReplayable) return undefined
  const begun = await begin(upload)
  if (!begun) return undefined
  const own = { path: begun.url, isAnonymous: upload.link !== undefined }
  try {
    onProgress?.({ sentBytes: 0, totalBytes })
    if (!(await sendParts(upload, begun.requests))) {
      // A link is free for another upload only when this one is deleted.
      await remove(api, own)
      return undefined
    }
  } catch (error) {
    void remove(api, own)
    throw error
  }
  // From here on, the file may be stored although its response was lost: deleting the upload would consume a link for nothing.
  const record = await complete(api, own, signal)
  onProgress?.({ sentBytes: totalBytes, totalBytes })
  return record
}

async function begin({
  api,
  source,
  link,
  signal,
  options = {},
}: BucketUpload): Promise<{ url: string; requests: Part[] } | undefined> {
  const target = link && (await link())
  const { folder, tags, metadata, focalPoint } = options
  try {
    const { id, url, requests } = await api.json<DirectUpload>({
      method: 'POST',
      path: target === undefined ? '/v1/upload/direct' : directUrlOf(target),
      isAnonymous: target !== undefined,
      json: {
        name: source.name || 'file',
        size: source.size,
        ...(target === undefined ? { folder, tags, metadata, focalPoint } : { link: target }),
      },
      signal,
    })
    // BASE_URL may be another address of the service. The secret is sent only to the address that the caller has given.
    const path = target === undefined ? api.urlOf(`/v1/upload/direct/${id}`) : url
    return { url: path, requests }
  } catch (error) {
    // The last two are the responses of earlier versions.
    const off = ['direct_uploads_off', 'route_not_found', 'method_not_allowed']
    if (error instanceof SluiceError && off.includes(error.code)) return undefined
    throw error
  }
}

/** The service of a signed link. It may be below a path of its host. */
function directUrlOf(link: string): string {
  return link.replace(/\/v1\/upload\/sign\/.*$/, '/v1/upload/direct')
}

/** @returns false when the bucket has not accepted any part */
async function sendParts(
  { api, source, signal, onProgress }: BucketUpload,
  parts: readonly Part[],
): Promise<boolean> {
  const end = new AbortController()
  const abort = () => end.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted) abort()
  const sent = parts.map(() => 0)
  const report = (i: number, bytes: number) => {
    sent[i] = bytes
    onProgress?.({ sentBytes: sent.reduce((sum, one) => sum + one, 0), totalBytes: source.size })
  }
  const send = async (i: number) => {
    const { url, headers, start, size, method } = parts[i] as Part
    const { bytes } = await source.chunk(start, size)
    const onSent = onProgress && ((count: number) => report(i, Math.min(count, size)))
    const request = { method, path: url, headers, isAnonymous: true, retries: false } as const
    await api.send({ ...request, kind: 'transfer', body: bytes, onSent, signal: end.signal })
    report(i, size)
  }
  try {
    // Alone: its failure decides whether the file is sent to the service instead.
    const isAccepted = await send(0).then(
      () => true,
      (error: unknown) => {
        end.signal.throwIfAborted()
        if (error instanceof SluiceError) return false
        throw error
      },
    )
    if (!isAccepted) return false
    let next = 1
    const worker = async () => {
      while (next < parts.length) {
        const i = next
        next += 1
        await withPatience(() => send(i), end.signal)
      }
    }
    await Promise.all(Array.from({ length: PARTS_AT_ONCE }, worker))
    return true
  } catch (error) {
    // The other parts must not continue.
    end.abort(error)
    throw error
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

/** Repeats a part that the bucket could not accept. @throws SluiceError after two minutes; the reason of the signal */
async function withPatience(send: () => Promise<void>, signal: AbortSignal): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  for (let failures = 0; ; failures += 1) {
    try {
      return await send()
    } catch (error) {
      signal.throwIfAborted()
      const delayMs = backoffMs(failures)
      if (!(error instanceof SluiceError) || !isTransient(error) || performance.now() + delayMs > until)
        throw error
      await wait(delayMs, signal)
    }
  }
}

function isTransient({ status, code }: SluiceError): boolean {
  return code === 'network' || [408, 429].includes(status) || status >= 500
}

interface Own {
  path: string
  isAnonymous: boolean
}

/** The record of the file, which may take a while to be stored. */
async function complete(
  api: Api,
  { path, isAnonymous }: Own,
  signal: AbortSignal | undefined,
): Promise<FileRecord> {
  const request = {
    method: 'POST',
    path: `${path}/complete`,
    isAnonymous,
    isIdempotent: true,
    signal,
  } as const
  for (;;) {
    const response = await api.send(request)
    const [record] = response.status === 200 ? ((await response.json()) as FileRecord[]) : []
    if (record) return record
    if (response.status !== 202)
      throw new SluiceError('The response has no record of the uploaded file.', { code: 'bad_response' })
    const seconds = Number(response.headers.get('Retry-After') ?? 2)
    await wait(1000 * (Number.isFinite(seconds) ? seconds : 2), signal)
  }
}

/** Never throws: an upload that is not deleted expires by itself. */
async function remove(api: Api, own: Own): Promise<void> {
  await api.send({ method: 'DELETE', ...own }).catch(() => {})
}
