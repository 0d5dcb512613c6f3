import type { Readable } from 'node:stream'

/**
 * Speaks HTTP with servers of the world for us, and with no other: public addresses only, checked where the connection
 * is made and again on every redirect.
 */
export interface Fetcher {
  /**
   * Resolves with the head of the last answer, whatever its status; redirects of GET and HEAD are followed, of other
   * methods never. Bodies come without `Content-Encoding`; cookies are neither sent nor handed on.
   *
   * @throws Problem 400 for a URL, or a redirect, to where we do not go; 413 for a body over `maxBytes`; 502 and 504
   *   for what the other side does. Or `signal.reason`. Its body may fail in all these ways as well.
   */
  fetch(request: FetchRequest): Promise<Fetched>
  /**
   * Checks whether a request would be allowed, without sending it. @throws Problem 400 with the reason as its cause, 502 when the name
   * cannot be resolved at the moment
   */
  mayFetch(url: string, access?: FetchAccess): Promise<void>
}

export interface FetchRequest {
  /** Absolute, http or https, without user name and password. */
  url: string
  /** GET by default. */
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'PURGE'
  /** For the origin of `url` only: a redirect to another one goes without them. */
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  signal?: AbortSignal
  /** From the start to the last byte of the body. */
  timeoutMs: number
  /** Of the body, as it comes and as it is decoded. */
  maxBytes: number
  /** 5 by default. */
  maxRedirects?: number
  /** What this request may reach, beside what every request may. */
  access?: FetchAccess
}

/** Which servers may be asked. */
export interface FetchAccess {
  /** Beside 80 and 443. */
  ports?: readonly number[]
  /** Ranges that are not public and may be reached all the same: `10.1.0.0/16`. */
  addresses?: readonly string[]
  /** When given, only these hosts: `example.com`, `*.example.com` for all below it. */
  allowHosts?: readonly string[]
  /** None of these, even when allowed. */
  denyHosts?: readonly string[]
}

export interface Fetched {
  status: number
  /** Names in lower case; what came several times is joined by commas. */
  headers: Readonly<Record<string, string>>
  /** The caller consumes or destroys it. */
  body: Readable
  /** Where the answer came from, after all redirects. */
  url: string
}
