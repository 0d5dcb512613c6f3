import type { FileRecord } from '../generated/api.ts'
import { isBusy, SluiceError } from '../http/problem.ts'
import type { UploadProgress } from '../http/progress.ts'
import type { Api } from '../http/request.ts'
import { backoffMs, waitAsAsked } from '../http/retry.ts'
import { wait } from '../http/wait.ts'
import type { Source } from './chunks.ts'
import type { ResumeStore } from './resume-store.ts'

/** Where the URL of an unfinished upload is stored. */
export interface ResumeEntry {
  store: ResumeStore
  key: string
}

/** A resumable upload. */
export interface TusUpload {
  api: Api
  source: Source
  /** Creates an upload: the URL for its POST, and whether the URL alone authorizes. Not called for a resume. */
  endpoint: () => Promise<{ url: string; isLink: boolean }>
  folder?: string | undefined
  chunkBytes: number
  resume: ResumeEntry | undefined
  onProgress: ((progress: UploadProgress) => void) | undefined
  signal: AbortSignal | undefined
  /** Whether it waits as long as a busy service requests, which an upload without `resume` always does. Default: true. */
  retries?: boolean
}

/** An upload that has begun, as it is stored to be resumed. */
export interface Created {
  url: string
  /** Whether the URL alone authorizes. */
  isLink: boolean
  /** Set for one that is sent straight to the bucket. */
  isDirect?: true
}

interface State {
  offset: number
  /** Undefined until the length of a stream is known. */
  size: number | undefined
}

const TUS = { 'Tus-Resumable': '1.0.0' }
// So long a server or a network may be away.
export const PATIENCE_MS = 120_000
// The responses of an upload that has expired, or belongs to another client.
export const GONE = [401, 403, 404, 410]

/**
 * Uploads in chunks, and continues after each interruption where the service has the last byte.
 *
 * @see https://tus.io/protocols/resumable-upload
 * @throws SluiceError when the upload is refused, or when no byte arrives for two minutes
 */
export async function uploadByTus(upload: TusUpload): Promise<FileRecord> {
  const { api, resume } = upload
  let stored = resume && (await unfinished(resume))
  if (stored?.isDirect) {
    await deleteUpload(api, stored)
    stored = undefined
  }
  for (; ; stored = undefined) {
    const created = stored ?? (await create(upload))
    if (!stored) await resume?.store.set(resume.key, JSON.stringify(created))
    try {
      const record = await transfer(upload, created)
      await resume?.store.delete(resume.key)
      return record
    } catch (error) {
      // Without its URL, it cannot be resumed.
      if (!resume && upload.signal?.aborted) void deleteUpload(api, created)
      // An aborted or interrupted upload can be resumed later.
      if (!(error instanceof SluiceError) || isTransient(error)) throw error
      await resume?.store.delete(resume.key)
      // The stored upload has expired, or belongs to another client.
      if (!stored || !GONE.includes(error.status)) throw error
    }
  }
}

/** The unfinished upload that can be resumed. */
export async function unfinished({ store, key }: ResumeEntry): Promise<Created | undefined> {
  const stored = await store.get(key)
  return stored === undefined ? undefined : (JSON.parse(stored) as Created)
}

/** Deletes an unfinished upload that can be resumed, and its bytes. Does nothing without one. */
export async function discardUnfinished(api: Api, entry: ResumeEntry): Promise<void> {
  const created = await unfinished(entry)
  if (!created) return
  await entry.store.delete(entry.key)
  await deleteUpload(api, created)
}

/** Never throws: an upload that is not deleted expires by itself. */
export async function deleteUpload(api: Api, { url, isLink, isDirect }: Created): Promise<void> {
  const headers = isDirect ? {} : TUS
  await api.send({ method: 'DELETE', path: url, headers, isAnonymous: isLink }).catch(() => {})
}

async function create({
  api,
  endpoint,
  source,
  folder,
  signal,
  retries = true,
}: TusUpload): Promise<Created> {
  const { url, isLink } = await endpoint()
  const metadata = { filename: source.name, ...(folder === undefined ? {} : { folder }) }
  const response = await api.send({
    method: 'POST',
    path: url,
    headers: {
      ...TUS,
      ...(source.size === undefined ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': `${source.size}` }),
      'Upload-Metadata': Object.entries(metadata)
        .map(([name, value]) => `${name} ${base64(value)}`)
        .join(','),
    },
    isAnonymous: isLink,
    // A second upload without bytes expires by itself. But it would take a use of a link.
    isIdempotent: !isLink,
    waits: retries,
    signal,
  })
  const location = response.headers.get('Location')
  if (location === null) throw without('Location')
  if (isLink) return { url: new URL(location, url).href, isLink }
  // BASE_URL may be another address of the service. The secret is sent only to the address that the caller has given.
  return { url: api.urlOf(`/v1/tus/${location.split('/').at(-1)}`), isLink }
}

/** Sends all bytes that are missing. */
async function transfer(upload: TusUpload, { url, isLink }: Created): Promise<FileRecord> {
  const { api, source, chunkBytes, onProgress, signal, resume, retries = true } = upload
  const common = { path: url, isAnonymous: isLink, signal, retries: false }
  const report = (sentBytes: number) => onProgress?.({ sentBytes, totalBytes: source.size })
  let state: State | undefined
  let failures = 0
  let reachedBytes = 0
  let progressAt = performance.now()
  for (;;) {
    try {
      if (state === undefined) {
        state = await stateOf(api, common)
        report(state.offset)
      }
      const { offset, size } = state
      if (offset === size) return await recordOf(api, common)
      const { bytes, isLast } = await source.chunk(offset, chunkBytes)
      const total = offset + bytes.size
      const response = await api.send({
        ...common,
        method: 'PATCH',
        kind: 'transfer',
        headers: {
          ...TUS,
          'Content-Type': 'application/offset+octet-stream',
          'Upload-Offset': `${offset}`,
          ...(isLast && size === undefined ? { 'Upload-Length': `${total}` } : {}),
        },
        body: bytes,
        onSent: onProgress && ((sent) => report(offset + Math.min(sent, bytes.size))),
      })
      const record = recordIn(response.headers.get('Upload-Record'))
      report(record ? total : offsetIn(response))
      if (record) return record
      state = { offset: offsetIn(response), size: isLast ? total : size }
      failures = 0
      progressAt = performance.now()
    } catch (error) {
      if (!(error instanceof SluiceError) || !isTransient(error)) throw error
      // The caller can resume it.
      if (resume && !retries && isBusy(error)) throw error
      // Part of a chunk that was interrupted may have arrived.
      if (state && state.offset > reachedBytes) {
        reachedBytes = state.offset
        failures = 0
        progressAt = performance.now()
      }
      const delayMs = Math.max(1000 * (error.retryAfter ?? 0), backoffMs(failures))
      if (performance.now() + delayMs > progressAt + PATIENCE_MS) throw error
      await wait(delayMs, signal)
      failures += 1
      state = undefined
    }
  }
}

type Common = Pick<Parameters<Api['send']>[0], 'path' | 'isAnonymous' | 'signal' | 'retries'>

async function stateOf(api: Api, common: Common): Promise<State> {
  const response = await api.send({ ...common, method: 'HEAD', headers: TUS })
  const length = response.headers.get('Upload-Length')
  return { offset: offsetIn(response), size: length === null ? undefined : Number(length) }
}

/** The record of a complete upload, which may still be in the process of being stored. */
async function recordOf(api: Api, common: Common): Promise<FileRecord> {
  for (;;) {
    const response = await api.send({ ...common, headers: TUS })
    const body = await response.text()
    if (response.status === 200) {
      const record = recordIn(body)
      if (record) return record
      throw without('record of the uploaded file')
    }
    await waitAsAsked(response, common.signal)
  }
}

function offsetIn(response: Response): number {
  const offset = Number(response.headers.get('Upload-Offset') ?? Number.NaN)
  if (Number.isInteger(offset)) return offset
  throw without('Upload-Offset')
}

function without(what: string): SluiceError {
  return new SluiceError(`The response has no ${what}.`, { code: 'bad_response' })
}

function recordIn(json: string | null): FileRecord | undefined {
  return json === null ? undefined : (JSON.parse(json) as FileRecord[])[0]
}

/** Whether the upload still exists and can be continued. */
export function isTransient({ status, code }: SluiceError): boolean {
  if (code === 'network' || code === 'timeout') return true
  // Only the operator can change it.
  if (code === 'storage_full') return false
  return [408, 423, 429].includes(status) || code === 'offset_conflict' || (status >= 500 && status !== 501)
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
