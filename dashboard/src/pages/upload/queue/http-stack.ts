import { retryAfterSeconds } from '../../../../../client/http/problem.ts'
import { wait } from '../../../../../client/http/wait.ts'
import { reachable } from '../../../api/base.ts'
import { waitForSignIn } from '../../../api/sign-in-gate.ts'

// A longer wait is an error, which the member can retry.
const BUSY_MAX_SECONDS = 600

/** The requests of one upload, for tus-js-client. */
export interface HttpStack {
  createRequest(method: string, url: string): Request
  getName(): string
}

/** Milliseconds until a refused request is sent again. Undefined: the response is final, or the wait would be too long. */
export function busyMs(status: number, retryAfter: string | null): number | undefined {
  const seconds = retryAfterSeconds(retryAfter)
  const isBusy = status === 429 || status === 503
  return isBusy && seconds !== undefined && seconds <= BUSY_MAX_SECONDS
    ? 1000 * Math.max(1, seconds)
    : undefined
}

interface Response {
  getStatus(): number
  getHeader(name: string): string | undefined
  getBody(): string
  getUnderlyingObject(): XMLHttpRequest
}

/**
 * Requests that wait for a sign-in after a 401, and for `Retry-After` after a 429 or 503. Then they are sent again. They go to
 * the address at which the console is open: only there the session is valid, and the policy of the page permits no other.
 *
 * @param onBusy receives when a request that the service has refused is sent again, in milliseconds since 1970; undefined then
 */
export function sessionStack(onBusy: (until: number | undefined) => void): HttpStack {
  return {
    createRequest: (method, url) => new Request(method, reachable(url), onBusy),
    getName: () => 'SessionStack',
  }
}

class Request {
  readonly #method: string
  readonly #url: string
  readonly #onBusy: (until: number | undefined) => void
  readonly #headers = new Map<string, string>()
  readonly #aborted = new AbortController()
  #xhr: XMLHttpRequest | undefined
  #onProgress: ((sentBytes: number) => void) | undefined

  constructor(method: string, url: string, onBusy: (until: number | undefined) => void) {
    this.#method = method
    this.#url = url
    this.#onBusy = onBusy
  }

  getMethod = () => this.#method
  getURL = () => this.#url
  setHeader(name: string, value: string) {
    this.#headers.set(name, value)
  }
  getHeader = (name: string) => this.#headers.get(name)
  setProgressHandler(handler: (sentBytes: number) => void) {
    this.#onProgress = handler
  }
  getUnderlyingObject = () => this.#xhr

  async send(body: XMLHttpRequestBodyInit | null = null): Promise<Response> {
    const { signal } = this.#aborted
    try {
      for (;;) {
        const xhr = await this.#sendOnce(body)
        if (xhr.status === 401) {
          await waitForSignIn(signal)
          continue
        }
        const delayMs = busyMs(xhr.status, xhr.getResponseHeader('Retry-After'))
        if (delayMs === undefined) return responseOf(xhr)
        this.#onBusy(Date.now() + delayMs)
        await wait(delayMs, signal)
        this.#onBusy(undefined)
      }
    } catch (error) {
      // As the requests of tus-js-client: an aborted one never settles, and the package has forgotten it.
      if (signal.aborted) return new Promise(() => {})
      throw error
    }
  }

  abort(): Promise<void> {
    this.#aborted.abort()
    this.#xhr?.abort()
    return Promise.resolve()
  }

  #sendOnce(body: XMLHttpRequestBodyInit | null): Promise<XMLHttpRequest> {
    return new Promise((resolve, reject) => {
      const xhr = new XMLHttpRequest()
      this.#xhr = xhr
      xhr.open(this.#method, this.#url, true)
      for (const [name, value] of this.#headers) xhr.setRequestHeader(name, value)
      xhr.upload.onprogress = ({ lengthComputable, loaded }) => {
        if (lengthComputable) this.#onProgress?.(loaded)
      }
      xhr.onload = () => resolve(xhr)
      xhr.onerror = () => reject(new Error('The connection was lost.'))
      xhr.onabort = () => reject(new Error('The request was aborted.'))
      xhr.send(body)
    })
  }
}

function responseOf(xhr: XMLHttpRequest): Response {
  return {
    getStatus: () => xhr.status,
    getHeader: (name) => xhr.getResponseHeader(name) ?? undefined,
    getBody: () => xhr.responseText,
    getUnderlyingObject: () => xhr,
  }
}
