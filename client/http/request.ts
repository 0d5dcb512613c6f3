import { newId } from './new-id.ts'
import { errorOf, SluiceError } from './problem.ts'
import { browserXhr, xhrFetch } from './progress.ts'
import { withRetries } from './retry.ts'
import { type SessionAccess, sessionHeaders, withSession } from './session.ts'

/** How requests reach the service. */
export interface ApiOptions {
  /** The address of the service, for example `https://files.example`. */
  baseUrl: string
  /** The value of `Authorization`. Undefined: requests without it. */
  authorization?: (() => string | undefined) | undefined
  /** Requests with the cookie of a session, instead of `authorization`. */
  session?: SessionAccess | undefined
  /** Replaces the global fetch. */
  fetch?: typeof globalThis.fetch | undefined
  /** The time for one call with all its retries, in milliseconds. Default: 60000. Does not limit the time of a transfer. */
  timeoutMs?: number | undefined
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined
}

type Value = string | number | boolean | undefined

/** One request. */
export interface ApiRequest extends CallOptions {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** A path of the service, or a whole URL. */
  path: string
  /** Undefined and false: left out. True: without a value. */
  query?: Readonly<Record<string, Value>>
  headers?: Readonly<Record<string, string>>
  json?: unknown
  body?: RequestInit['body']
  /** Whether redirects are followed, which is the default. */
  redirect?: 'error' | undefined
  /** `transfer`: a file is sent or received, which may take longer than the time limit of a call. */
  kind?: 'call' | 'transfer'
  /** Whether the request may be sent twice. Default: whether the method is GET, HEAD or DELETE. */
  isIdempotent?: boolean
  /** Whether to send an `Idempotency-Key`: the service executes the request once, however often it is sent. */
  once?: boolean
  /** Whether to send no `Authorization`. */
  isAnonymous?: boolean
  /** Receives the number of sent bytes of the body. Only browsers report it before the end. */
  onSent?: ((bytes: number) => void) | undefined
  /** Whether to retry. Default: true. */
  retries?: boolean
  /** Whether retries wait as long as a busy service requests. Default: true. */
  waits?: boolean
}

/** Sends requests to one service. */
export interface Api {
  /** @throws SluiceError for a status of 400 or above, a lost connection and a timeout */
  send(request: ApiRequest): Promise<Response>
  /** The JSON of the response. @throws SluiceError */
  json<T>(request: ApiRequest): Promise<T>
  /** Whether `onSent` is called while a body is sent, and not only at its end. */
  seesProgress: boolean
  /** The whole URL of a path. */
  urlOf(path: string): string
  /** Names the service, and the client of a session. */
  scope: string
}

const TIMEOUT_MS = 60_000
const IDEMPOTENT = ['GET', 'HEAD', 'DELETE']

/** Creates the transport of a client. */
export function createApi({
  baseUrl: given,
  authorization = () => undefined,
  session,
  fetch: givenFetch,
  timeoutMs = TIMEOUT_MS,
}: ApiOptions): Api {
  const baseUrl = String(given).replace(/\/+$/, '')
  if (!/^https?:\/\/./.test(baseUrl))
    throw new TypeError(
      `expected an http or https URL for baseUrl but received ${JSON.stringify(String(given))}`,
    )
  const urlOf = (path: string) => (path.startsWith('/') ? `${baseUrl}${path}` : path)

  async function attempt(request: ApiRequest, signal: AbortSignal | undefined): Promise<Response> {
    const {
      method = 'GET',
      path,
      query = {},
      headers = {},
      json,
      body,
      redirect,
      isAnonymous,
      onSent,
    } = request
    const url = withQuery(urlOf(path), query)
    const token = isAnonymous ? undefined : authorization()
    const init: RequestInit = {
      method,
      headers: {
        ...(token === undefined ? {} : { Authorization: token }),
        ...(session && !isAnonymous ? sessionHeaders(session) : {}),
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: json === undefined ? (body ?? null) : JSON.stringify(json),
      ...(redirect ? { redirect } : {}),
      ...(signal ? { signal } : {}),
    }
    const Xhr = onSent && !givenFetch ? browserXhr() : undefined
    const response = await (onSent && Xhr
      ? xhrFetch(Xhr, url, init, onSent)
      : // Looked up at each call: programs replace the global fetch. Browsers refuse it as a method of another object.
        (givenFetch ?? globalThis.fetch)(url, init)
    ).catch((error: unknown) => {
      throw new SluiceError(`Could not reach ${new URL(url).origin}.`, { code: 'network', cause: error })
    })
    if (response.status >= 400) throw await errorOf(response)
    return response
  }

  function send(given: ApiRequest, read = async (response: Response) => response as unknown) {
    const request = given.once ? executedOnce(given) : given
    const { method = 'GET', signal, kind = 'call', retries = true, waits } = request
    const isIdempotent = request.isIdempotent ?? IDEMPOTENT.includes(method)
    const limitMs = retries ? timeoutMs : 0
    const run = (inner: AbortSignal | undefined) =>
      withRetries(async () => read(await attempt(request, inner)), {
        isIdempotent,
        limitMs,
        // A large file may take longer than the limit.
        fromFailure: kind !== 'call',
        waits,
        signal: inner,
      }).catch((error: unknown) => {
        // fetch and the body of a response fail with errors of their own when they are aborted.
        if (inner?.aborted) throw inner.reason
        throw error
      })
    // A sign-in takes as long as the person needs: its time is not part of the limit.
    const limited = () => (kind === 'call' ? withTimeout(timeoutMs, signal, run) : run(signal))
    return session && !request.isAnonymous ? withSession(session, signal, limited) : limited()
  }

  return {
    scope: session?.clientId === undefined ? baseUrl : `${baseUrl} ${session.clientId}`,
    seesProgress: !givenFetch && !!browserXhr(),
    urlOf,
    send: (request) => send(request) as Promise<Response>,
    json: <T>(request: ApiRequest) => send(request, parsed) as Promise<T>,
  }
}

function executedOnce(request: ApiRequest): ApiRequest {
  return { ...request, headers: { ...request.headers, 'Idempotency-Key': newId() }, isIdempotent: true }
}

/** `path` with each of its names in percent-encoding. */
export function encodedPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

async function parsed(response: Response): Promise<unknown> {
  const text = await response.text().catch((cause: unknown) => {
    throw new SluiceError('The connection failed during the response.', { code: 'network', cause })
  })
  try {
    return JSON.parse(text)
  } catch (cause) {
    const { status } = response
    throw new SluiceError('The response is not JSON. baseUrl may not be the address of Sluice.', {
      status,
      code: 'bad_response',
      cause,
    })
  }
}

function withQuery(url: string, query: Readonly<Record<string, Value>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined || value === false) return []
    return [value === true ? name : `${name}=${encodeURIComponent(value)}`]
  })
  if (pairs.length === 0) return url
  return `${url}${url.includes('?') ? '&' : '?'}${pairs.join('&')}`
}

async function withTimeout<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  const timeout = new SluiceError(`The call took longer than ${ms} ms.`, { code: 'timeout' })
  const timer = setTimeout(() => controller.abort(timeout), ms)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
