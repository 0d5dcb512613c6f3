import Uppy, { type UppyFile } from '@uppy/core'
import Tus from '@uppy/tus'
import { errorOf } from '../../../../../client/http/problem.ts'
import { wait } from '../../../../../client/http/wait.ts'
import { type FileRecord, SluiceError } from '../../../../../client/index.ts'
import { reachable, serviceUrl } from '../../../api/base.ts'
import { headersFor, libraryFor } from '../../../api/clients.ts'
import { waitForSignIn } from '../../../api/sign-in-gate.ts'
import { UPLOAD } from '../../../texts/upload.ts'
import { busyMs, sessionStack } from './http-stack.ts'
import type { UploadItem } from './item.ts'
import { takeUrl, urlStorageOf } from './upload-urls.ts'

const CHUNK_BYTES = 8 * 1024 * 1024
const RETRY_DELAYS_MS = [500, 1000, 3000, 5000, 10_000, 20_000, 30_000]
const POLL_MS = 2000
const TUS = { 'Tus-Resumable': '1.0.0' }

/** What happens to the uploads in progress. */
export interface TransportEvents {
  onProgress(id: string, sentBytes: number): void
  onBusy(id: string, until: number | undefined): void
  /** All bytes have arrived. */
  onReceived(id: string): void
  onDone(id: string, record: FileRecord): void
  onFailed(id: string, error: SluiceError): void
}

/** Sends items with Uppy and tus. The queue decides which, and when. */
export interface Transport {
  start(item: UploadItem): void
  /** Stops the requests of an upload. The bytes that have arrived remain; `start` continues. */
  pause(id: string): void
  /** Stops it, and deletes the bytes that have arrived. */
  cancel(item: UploadItem): void
  /** Stops everything. The bytes that have arrived remain. */
  close(): void
}

type Meta = Record<string, string>
type Body = { xhr: XMLHttpRequest }

/** Creates a transport. It sends nothing until an item is started. */
export function createTransport(events: TransportEvents): Transport {
  // By the id of the item. The signal ends the wait for its record.
  const runs = new Map<string, { fileId?: string; isSent: boolean; stop: AbortController }>()
  const uppy = new Uppy<Meta, Body>({ id: 'console', autoProceed: true, logger: silent })
  uppy.use(Tus<Meta, Body>, {
    endpoint: `${serviceUrl}/v1/tus`,
    headers: ({ meta }) => headersFor(meta.clientId ?? ''),
    allowedMetaFields: ['name', 'type', 'folder'],
    chunkSize: CHUNK_BYTES,
    retryDelays: RETRY_DELAYS_MS,
    removeFingerprintOnSuccess: true,
    onBeforeRequest: (_request, { meta }) => {
      const run = runs.get(meta.itemId ?? '')
      if (run) run.isSent = true
    },
    // The default waits for the browser to be online, which it never reports in a LAN without internet.
    onShouldRetry: ({ originalResponse }) => {
      const status = originalResponse?.getStatus() ?? 0
      return (
        status === 0 ||
        status === 409 ||
        status === 423 ||
        (status >= 500 && status !== 501 && status !== 507)
      )
    },
  })

  const forget = (id: string) => {
    const run = runs.get(id)
    runs.delete(id)
    run?.stop.abort()
    return run
  }
  // Uppy still changes the state of the file after its own events.
  const removeLater = (fileId: string) => setTimeout(() => uppy.removeFile(fileId))

  uppy.on('upload-progress', (file, { bytesUploaded }) => {
    if (file?.meta.itemId && runs.has(file.meta.itemId))
      events.onProgress(file.meta.itemId, bytesUploaded || 0)
  })
  uppy.on('upload-success', (file, { body, uploadURL }) => {
    const id = file?.meta.itemId
    const run = id === undefined ? undefined : runs.get(id)
    if (!file || id === undefined || !run) return
    removeLater(file.id)
    events.onReceived(id)
    const headers = headersFor(file.meta.clientId ?? '')
    const { signal } = run.stop
    const onBusy = (until: number | undefined) => events.onBusy(id, until)
    recordOf({ xhr: body?.xhr, url: uploadURL ?? '', headers, signal, onBusy }).then(
      (record) => forget(id) && events.onDone(id, record),
      (error) => forget(id) && events.onFailed(id, failureOf(error)),
    )
  })
  uppy.on('upload-error', (file, error, response) => {
    const id = file?.meta.itemId
    if (!file || id === undefined) return
    removeLater(file.id)
    if (!forget(id)) return
    void errorIn(error, response?.body?.xhr).then((failure) => events.onFailed(id, failure))
  })

  const startFile = (item: UploadItem, source: File) => {
    const fileId = uppy.addFile({
      name: item.name,
      type: item.type,
      data: source,
      meta: { itemId: item.id, clientId: item.clientId, folder: item.folder, relativePath: item.id },
    })
    uppy.setFileState(fileId, {
      tus: {
        httpStack: sessionStack((until) => events.onBusy(item.id, until)),
        urlStorage: urlStorageOf(item),
        // A small file needs a single request.
        uploadDataDuringCreation: source.size <= CHUNK_BYTES,
      },
    } as Partial<UppyFile<Meta, Body>>)
    runs.set(item.id, { fileId, isSent: false, stop: new AbortController() })
  }
  const startUrl = ({ id, clientId, folder }: UploadItem, source: URL) => {
    const stop = new AbortController()
    runs.set(id, { isSent: true, stop })
    libraryFor(clientId)
      .files.upload(source, { folder, signal: stop.signal })
      .then(
        (record) => forget(id) && events.onDone(id, record),
        (error) => forget(id) && events.onFailed(id, failureOf(error)),
      )
  }

  return {
    start(item) {
      const { source } = item
      const fileId = runs.get(item.id)?.fileId
      if (fileId !== undefined) {
        if (uppy.getFile(fileId)?.isPaused) uppy.pauseResume(fileId)
      } else if (source instanceof File) startFile(item, source)
      else if (source) startUrl(item, source)
    },
    pause(id) {
      const run = runs.get(id)
      // Uppy can pause only what it has begun to send. The service fetches a URL from its beginning.
      if (run?.fileId !== undefined && run.isSent) uppy.pauseResume(run.fileId)
      else if (forget(id)?.fileId !== undefined && run?.fileId !== undefined) uppy.removeFile(run.fileId)
    },
    cancel(item) {
      const run = forget(item.id)
      // This deletes what has arrived, too.
      if (run?.fileId !== undefined && uppy.getFile(run.fileId)) uppy.removeFile(run.fileId)
      const url = takeUrl(item)
      if (url === undefined || run?.isSent) return
      const headers = { ...TUS, ...headersFor(item.clientId) }
      // What is not deleted expires by itself.
      fetch(reachable(url), { method: 'DELETE', headers }).catch(() => {})
    },
    close() {
      for (const [id, { fileId, isSent }] of runs) {
        if (fileId !== undefined && isSent && !uppy.getFile(fileId)?.isPaused) uppy.pauseResume(fileId)
        forget(id)
      }
    },
  }
}

const silent = { debug: () => {}, warn: () => {}, error: () => {} }

/** The record of a complete upload, which the service may still be storing. */
async function recordOf({
  xhr,
  url,
  headers,
  signal,
  onBusy,
}: {
  xhr: XMLHttpRequest | undefined
  url: string
  headers: Record<string, string>
  signal: AbortSignal
  onBusy: (until: number | undefined) => void
}): Promise<FileRecord> {
  const own = xhr?.getResponseHeader('Upload-Record')
  if (own) return firstOf(own)
  for (;;) {
    const response = await fetch(reachable(url), { headers: { ...TUS, ...headers }, signal })
    const { status, headers: received } = response
    if (status === 200) return firstOf(await response.text())
    if (status === 401) {
      await waitForSignIn(signal)
      continue
    }
    if (status === 202) {
      await wait(POLL_MS, signal)
      continue
    }
    const delayMs = busyMs(status, received.get('Retry-After'))
    if (delayMs === undefined) throw await errorOf(response)
    onBusy(Date.now() + delayMs)
    await wait(delayMs, signal)
    onBusy(undefined)
  }
}

function firstOf(json: string): FileRecord {
  const [record] = JSON.parse(json) as FileRecord[]
  if (record) return record
  throw new SluiceError(UPLOAD.noRecord, { code: 'bad_response' })
}

async function errorIn(error: { message: string }, xhr: XMLHttpRequest | undefined): Promise<SluiceError> {
  if (!xhr || xhr.status < 400) return new SluiceError(error.message, { code: 'network', cause: error })
  const headers: Record<string, string> = {}
  for (const name of ['Retry-After', 'X-Request-Id']) {
    const value = xhr.getResponseHeader(name)
    if (value !== null) headers[name] = value
  }
  return errorOf(new Response(xhr.responseText, { status: xhr.status, headers }))
}

function failureOf(error: unknown): SluiceError {
  if (error instanceof SluiceError) return error
  return new SluiceError(error instanceof Error ? error.message : String(error), {
    code: 'network',
    cause: error,
  })
}
