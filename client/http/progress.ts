/** How much of a file is sent. */
export interface UploadProgress {
  sentBytes: number
  /** The size of the file. Undefined until the end of a stream of unknown length. */
  totalBytes: number | undefined
}

/** The members of XMLHttpRequest that are used. Declared here, since Node has no such class. */
interface Xhr {
  readonly upload: { onprogress: ((event: { loaded: number }) => void) | null }
  readonly status: number
  readonly statusText: string
  readonly response: Blob | null
  responseType: string
  onload: (() => void) | null
  onerror: (() => void) | null
  onabort: (() => void) | null
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getAllResponseHeaders(): string
  send(body: unknown): void
  abort(): void
}

/** The class of browsers. Undefined elsewhere. */
export function browserXhr(): (new () => Xhr) | undefined {
  return (globalThis as unknown as { XMLHttpRequest?: new () => Xhr }).XMLHttpRequest
}

/** Sends a request with XMLHttpRequest: fetch cannot report how much of a body is sent. Fails as fetch does. */
export function xhrFetch(
  Request: new () => Xhr,
  url: string,
  init: RequestInit,
  onSent: (bytes: number) => void,
): Promise<Response> {
  const { signal } = init
  return new Promise((resolve, reject) => {
    const xhr = new Request()
    const abort = () => xhr.abort()
    const fail = () => {
      signal?.removeEventListener('abort', abort)
      reject(signal?.aborted ? signal.reason : new TypeError('The connection failed.'))
    }
    if (signal?.aborted) return fail()
    signal?.addEventListener('abort', abort, { once: true })
    xhr.open(init.method ?? 'GET', url)
    for (const [name, value] of new Headers(init.headers)) xhr.setRequestHeader(name, value)
    xhr.responseType = 'blob'
    xhr.upload.onprogress = ({ loaded }) => onSent(loaded)
    xhr.onerror = fail
    xhr.onabort = fail
    xhr.onload = () => {
      signal?.removeEventListener('abort', abort)
      const { status, statusText, response } = xhr
      const isEmpty = [204, 205, 304].includes(status)
      resolve(new Response(isEmpty ? null : response, { status, statusText, headers: headersOf(xhr) }))
    }
    xhr.send(init.body ?? null)
  })
}

function headersOf(xhr: Xhr): Headers {
  const headers = new Headers()
  for (const line of xhr.getAllResponseHeaders().trim().split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return headers
}
