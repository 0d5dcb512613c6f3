import type { Readable } from 'node:stream'

/**
 * Sends HTTP requests to public IP addresses only. The address is checked when the connection is opened, and again on every
 * redirect.
 */
export interface Fetcher {
  /**
   * Resolves with the head of the last response, whatever its status. Redirects are followed for GET and HEAD only. Bodies are
   * decoded by their `Content-Encoding`; cookies are neither sent nor returned.
   *
   * @throws Problem 400 for a URL, or a redirect, that is not permitted; 413 for a body over `maxBytes`; 502 and 504 for failures of
   *   the remote server; `signal.reason`. The body may fail with the same errors.
   */
  fetch(request: FetchRequest): Promise<Fetched>
  /**
   * Checks whether a request would be permitted, without sending it. @throws Problem 400 with the reason as its cause, 502 when the
   * name cannot be resolved
   */
  mayFetch(url: string, access?: FetchAccess): Promise<void>
}

export interface FetchRequest {
  /** Absolute, http or https, without user name and password. */
  url: string
  /** Default: GET. */
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'PURGE'
  /** Sent to the origin of `url` only: a redirect to another origin is followed without them. */
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  signal?: AbortSignal
  /** The time limit from the start to the last byte of the body. */
  timeoutMs: number
  /** The maximum of the body, as received and as decoded. */
  maxBytes: number
  /** Default: 5. */
  maxRedirects?: number
  /** The servers that this request may reach, in addition to those that every request may reach. */
  access?: FetchAccess
}

/** The servers that may be reached. */
export interface FetchAccess {
  /** Ports in addition to 80 and 443. */
  ports?: readonly number[]
  /** Private IP ranges that may be reached: `10.1.0.0/16`. */
  addresses?: readonly string[]
  /** If set, only these hosts: `example.com`, or `*.example.com` for all subdomains. */
  allowHosts?: readonly string[]
  /** These hosts are denied, even if they are allowed. */
  denyHosts?: readonly string[]
}

export interface Fetched {
  status: number
  /** Names are in lower case; repeated headers are joined by commas. */
  headers: Readonly<Record<string, string>>
  /** The caller consumes or destroys it. */
  body: Readable
  /** The URL of the response, after all redirects. */
  url: string
}
