import type { Readable } from 'node:stream'

/**
 * Sends HTTP requests to servers on public IP addresses only. The address is checked when the connection is opened, and
 * again on every redirect.
 */
export interface Fetcher {
  /**
   * Resolves with the head of the last response, also for an error status. Follows redirects of GET and HEAD only. Bodies are
   * decoded from their `Content-Encoding`. Cookies are neither sent nor returned.
   *
   * @throws Problem 400 for a URL or a redirect that is not allowed; 413 for a body over `maxBytes`; 502 or 504 for a failure
   *   of the remote server; `signal.reason`. The body may fail with the same errors.
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
  /** Sent to the origin of `url` only: a redirect to another origin is requested without them. */
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  signal?: AbortSignal
  /** From the start to the last byte of the body. */
  timeoutMs: number
  /** Limit of the body, both as received and as decoded. */
  maxBytes: number
  /** Default 5. */
  maxRedirects?: number
  /** Servers that this request may reach; by default, every host with a public address. */
  access?: FetchAccess
}

/** The servers that a request may reach. */
export interface FetchAccess {
  /** Ports in addition to 80 and 443. */
  ports?: readonly number[]
  /** Private IP ranges that may be reached in addition to public addresses: `10.1.0.0/16`. */
  addresses?: readonly string[]
  /** When set, only these hosts are allowed: `example.com`, or `*.example.com` for all its subdomains. */
  allowHosts?: readonly string[]
  /** Hosts that are denied even when `allowHosts` has them. */
  denyHosts?: readonly string[]
}

export interface Fetched {
  status: number
  /** Names are in lower case; repeated headers are joined by commas. */
  headers: Readonly<Record<string, string>>
  /** The caller must consume or destroy it. */
  body: Readable
  /** The URL of the response, after all redirects. */
  url: string
}
