import type { IncomingMessage } from 'node:http'
import type { MemberSession } from '../service/members/sessions.ts'
import type { HotName, HotState } from './hot/cache.ts'

/** The signature of a request's URL, after it was verified. */
export interface UrlSignature {
  /** The version of the key. URLs in the response are signed with the same key, so that they are revoked with it. */
  version: number
  /** Milliseconds since 1970, exclusive; absent for a URL that does not expire. */
  until?: number
}

/** What the middlewares and routes note about one request, for those that handle it later and for the log. */
export interface RequestState {
  /** The request line names no path, so the request is refused. */
  hasBadTarget?: true
  /** The request owns its connection, see `serializePipelined`. */
  hasTurn?: true
  /** Too many requests wait on the connection. The response is 429, and the last one of the connection. */
  exceedsPipeline?: true
  /** The ID of the trace of the request; absent without one. */
  traceId?: string
  /** The id of the client that the request belongs to; absent while it is unknown. */
  clientId?: string
  /** Present for a request of the console. Without `session`, its sender is not signed in. */
  console?: { session?: MemberSession }
  /** The endpoint that handles the request: its action in the audit log, and whether only the operator may take it. */
  endpoint?: { audit: string | undefined; isOfOperator: boolean }
  /** More about the action of the request, for the audit log. */
  audited?: {
    /** In place of that of the route. */
    action?: string
    /** In place of what the path names. */
    target?: string | undefined
    details?: Readonly<Record<string, string | number>>
  }
  /** Adds the entry of this request to the audit log, once. Called at the end of a successful response, or before it. */
  addAuditEntry?: () => void
  /** Absent when the URL is not signed. */
  signature?: UrlSignature
  /** Present when a signed cookie opens the file. `until`: its expiry, in milliseconds since 1970, exclusive. */
  signedCookie?: { until: number }
  /** The origin of the page that sends the request, if the operator lists it. */
  listedOrigin?: string
  /** Set when the headers of the response permit this page to send cookies, and no other page. */
  isCredentialed?: true
  /** Set when the response may be added to the hot cache. */
  hot?: HotName & { state: HotState }
  /** The `code` of the problem in the response; absent for a response without a problem. */
  problemCode?: string
  /** Whether a problem of 500 or more has ended the response after its head. */
  hasBrokenOff?: boolean
}

const STATE = Symbol('request state')

/**
 * Present when the response is only for the caller, so that no shared cache may store it. `until`: when the right to read it expires, in
 * milliseconds since 1970, exclusive; absent: never.
 */
export function callerOnly(req: IncomingMessage): { until?: number } | undefined {
  const { signature, signedCookie, isCredentialed } = stateOf(req)
  return signature ?? signedCookie ?? (isCredentialed ? {} : undefined)
}

/** The state of a request. It is created at the first call and lives as long as the request. */
export function stateOf(req: IncomingMessage & { [STATE]?: RequestState }): RequestState {
  req[STATE] ??= {}
  return req[STATE]
}
