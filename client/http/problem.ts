import type { Problem, ProblemCode } from '../generated/api.ts'

/** All known members of a problem response, and those that depend on its code. */
export type ProblemMembers = Partial<Problem>

/** A code of Sluice or of this library. Others are possible: newer versions have further codes. */
export type ErrorCode =
  | ProblemCode
  | 'network'
  | 'timeout'
  | 'bad_response'
  | 'job_failed'
  | 'webhook_invalid'
  | (string & {})

/** The fields of a {@link SluiceError}. */
export interface SluiceErrorFields {
  status?: number
  code: ErrorCode
  title?: string
  requestId?: string | undefined
  retryAfter?: number | undefined
  problem?: ProblemMembers | undefined
  cause?: unknown
}

/**
 * The one error of this library. An aborted call rejects with the reason of its signal instead, and a wrong argument throws a
 * TypeError.
 */
export class SluiceError extends Error {
  override readonly name = 'SluiceError'
  /** The HTTP status. 0: there is no response (`network`, `timeout`). */
  readonly status: number
  /**
   * The stable code of the problem, listed in docs/reference/errors.md. Codes of this library: `network`, `timeout`,
   * `bad_response`, `job_failed`, `webhook_invalid`. `http_<status>` for a response of another program, for example a
   * proxy.
   */
  readonly code: ErrorCode
  /** A short text for the status. */
  readonly title: string
  /** What is wrong, for people. The same as `message`. */
  readonly detail: string
  /** The id of the request in the log of the service. */
  readonly requestId: string | undefined
  /** When to retry, in seconds. Undefined when the response does not state it. */
  readonly retryAfter: number | undefined
  /** All members of the response. Undefined when it is not a problem of Sluice. */
  readonly problem: ProblemMembers | undefined

  constructor(detail: string, { status = 0, code, title = '', ...rest }: SluiceErrorFields) {
    super(detail, rest.cause === undefined ? undefined : { cause: rest.cause })
    this.status = status
    this.code = code
    this.title = title
    this.detail = detail
    this.requestId = rest.requestId
    this.retryAfter = rest.retryAfter
    this.problem = rest.problem
  }
}

/** The error that a response of 400 or above means. Reads its body. */
export async function errorOf(response: Response): Promise<SluiceError> {
  const text = await response.text().catch(() => '')
  const problem = problemIn(text)
  const { status, headers } = response
  return new SluiceError(problem?.detail ?? `The response has the status ${status}.`, {
    status,
    code: problem?.code ?? `http_${status}`,
    title: problem?.title ?? response.statusText,
    requestId: problem?.instance ?? headers.get('X-Request-Id') ?? undefined,
    retryAfter: retryAfterSeconds(headers.get('Retry-After')) ?? problem?.retryAfterSeconds,
    problem,
  })
}

/**
 * Seconds until a retry, from a `Retry-After` header: a number of seconds, or a date. Undefined without a valid one.
 *
 * @see RFC 9110 section 10.2.3
 */
export function retryAfterSeconds(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header.trim())) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000))
}

/** Whether the service has refused a request for now, and states when to send it again. */
export function isBusy({ status, retryAfter }: SluiceError): boolean {
  return (status === 429 || status === 503) && retryAfter !== undefined
}

function problemIn(text: string): ProblemMembers | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('code' in value)) return undefined
    return typeof value.code === 'string' ? (value as ProblemMembers) : undefined
  } catch {
    return undefined
  }
}
