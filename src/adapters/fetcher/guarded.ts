import type { FetchAccess, Fetcher, FetchRequest } from '../../core/ports/fetcher.ts'
import { currentRequest } from '../../core/request-context.ts'
import { guardedBody } from './body.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import { type ExchangeLimits, exchange, type ReceivedResponse } from './exchange.ts'
import { createGuard, type Resolve } from './guard.ts'
import { createNames } from './names.ts'
import { notAllowed, remoteFailed } from './refusals.ts'

/** Settings for all requests of a fetcher. */
export interface GuardedFetcherOptions extends Partial<ExchangeLimits> {
  /** The access rules of every request. Those of each request are added. */
  access?: FetchAccess
  /** Resolves names. The default reads `/etc/hosts`, then asks DNS. */
  resolve?: Resolve
  /** Certificate authorities in PEM, instead of those of Node. */
  ca?: string
}

const LIMITS: ExchangeLimits = {
  connectMs: 5_000,
  headersMs: 15_000,
  bodyIdleMs: 15_000,
  headerBytes: 16 * 1024,
}
const MAX_REDIRECTS = 5
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
// Headers that Node sets itself, that would name another host than the checked one, and cookies.
const NOT_SENT: ReadonlySet<string> = new Set(['connection', 'cookie', 'host', 'transfer-encoding'])

/** Fetches from public addresses only; see {@link Fetcher}. */
export function guardedFetcher({
  access = {},
  resolve = createNames(),
  ca,
  ...given
}: GuardedFetcherOptions = {}): Fetcher {
  const limits = { ...LIMITS, ...given }

  /** Sends the request and follows redirects. Each hop is checked like the first request. */
  async function follow(
    request: FetchRequest,
    deadline: Deadline,
  ): Promise<{ response: ReceivedResponse; url: URL }> {
    const { method = 'GET', maxRedirects = MAX_REDIRECTS, body } = request
    const guard = createGuard([access, request.access ?? {}], resolve)
    const { signal } = deadline
    let url = absolute(request.url)
    let headers: NonNullable<FetchRequest['headers']> = { ...currentRequest()?.trace, ...request.headers }
    for (let redirects = 0; ; redirects += 1) {
      const redirected = redirects > 0
      const addresses = await deadline.within(limits.connectMs, guard.addressesOf(url, { redirected }))
      const sent = { url, addresses, method, headers: sentHeaders(headers), body }
      const response = await exchange({ ...sent, signal, limits, ca })
      const next = redirection(response, method, url)
      if (!next) return { response, url }
      response.body.destroy()
      if (redirects === maxRedirects) throw remoteFailed('redirects too many times')
      if (next.origin !== url.origin) headers = {}
      url = next
    }
  }

  return {
    async mayFetch(url, also = {}) {
      await createGuard([access, also], resolve).addressesOf(absolute(url), { redirected: false })
    },
    async fetch(request) {
      const deadline = startDeadline(request)
      try {
        const { response, url } = await follow(request, deadline)
        const { method = 'GET', maxBytes } = request
        const body = guardedBody(response, { method, maxBytes, failure: deadline.failure })
        body.once('close', deadline.over)
        return { status: response.status, headers: receivedHeaders(response.headers), body, url: url.href }
      } catch (error) {
        const failure = deadline.failure(error)
        deadline.abort(failure)
        deadline.over()
        throw failure
      }
    },
  }
}

function absolute(text: string): URL {
  if (URL.canParse(text)) return new URL(text)
  throw notAllowed('an absolute URL', { redirected: false })
}

/** The target of a redirect; undefined when the response is not a redirect to follow. */
function redirection({ status, headers }: ReceivedResponse, method: string, from: URL): URL | undefined {
  const { location } = headers
  if (!REDIRECTS.has(status) || location === undefined || !['GET', 'HEAD'].includes(method)) return undefined
  if (Array.isArray(location) || !URL.canParse(location, from.href))
    throw remoteFailed('redirects to an invalid URL')
  const to = new URL(location, from)
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw notAllowed('https, as before the redirect', { redirected: true })
  return to
}

function sentHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  const named = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value] as const)
  return {
    accept: '*/*',
    'user-agent': 'Sluice',
    ...Object.fromEntries(named.filter(([name]) => !NOT_SENT.has(name))),
    'accept-encoding': 'identity',
  }
}

/** Without cookies. For a decoded body, also without the headers that describe the encoded one. */
function receivedHeaders(received: ReceivedResponse['headers']): Record<string, string> {
  const entries = Object.entries(received).filter(([name]) => name !== 'set-cookie')
  const decoded = received['content-encoding'] !== undefined
  const remaining = entries.filter(
    ([name]) => !decoded || !['content-encoding', 'content-length'].includes(name),
  )
  return Object.fromEntries(remaining.map(([name, value]) => [name, [value].flat().join(', ')]))
}
