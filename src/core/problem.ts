/** What a {@link Problem} tells the caller; every field is public. */
export interface ProblemOptions {
  /** HTTP status, 400 to 599. */
  status: number
  /** Stable, snake case; clients may switch on it. */
  code: string
  /** One sentence for a person: what was expected, for what, what came. */
  detail: string
  /** Further members of the problem document, for example `param` or `retryAfterSeconds`. */
  members?: Readonly<Record<string, string | number>>
  /** Response headers that belong to the status, for example `Allow`. */
  headers?: Readonly<Record<string, string>>
  /** What caused it: for the log only, never for the caller. */
  cause?: unknown
}

/**
 * A failure with a public face. Whatever throws one decides what the caller sees; `http/problem.ts` is the only
 * place that turns it into a response. Any other error is a 500 without details.
 *
 * @see RFC 9457
 */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  readonly members: Readonly<Record<string, string | number>>
  readonly headers: Readonly<Record<string, string>>

  constructor(options: ProblemOptions) {
    super(options.detail, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = 'Problem'
    this.status = options.status
    this.code = options.code
    this.members = options.members ?? {}
    this.headers = options.headers ?? {}
  }
}

/** What a received value looks like in a message: quoted, escaped, at most 100 characters. */
export function quoted(received: unknown): string {
  const text = typeof received === 'string' ? received : (JSON.stringify(received) ?? String(received))
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}

/** 400: a value that does not fit: ``expected an integer from 1 to 5000 for w but received "abc"``. */
export function badParameter(param: string, expected: string, received: unknown): Problem {
  const shown = received === undefined ? 'nothing' : quoted(received)
  return new Problem({
    status: 400,
    code: 'bad_parameter',
    detail: `expected ${expected} for ${param} but received ${shown}`,
    members: { param, expected, received: shown === 'nothing' ? '' : JSON.parse(shown) },
  })
}

/** 400: a path or folder that no file may have. */
export function badPath(param: string, reason: string, received: string): Problem {
  return new Problem({
    status: 400,
    code: 'bad_path',
    detail: `expected a plain relative path for ${param}: ${reason}, received ${quoted(received)}`,
    members: { param, received: JSON.parse(quoted(received)) },
  })
}

/** 404. Says the same of a file that never was, one that is deleted, and one of another client. */
export function fileNotFound(): Problem {
  return new Problem({ status: 404, code: 'file_not_found', detail: 'there is no such file' })
}

/** 422: a source that cannot be transformed: broken, unsupported, or past a limit. */
export function notTransformable(detail: string, cause?: unknown): Problem {
  return new Problem({ status: 422, code: 'not_transformable', detail, cause })
}

/** 413, with the limit it is about. */
export function tooLarge(what: string, maxBytes: number): Problem {
  return new Problem({
    status: 413,
    code: 'too_large',
    detail: `expected ${what} of at most ${maxBytes} bytes but received more; nothing was kept`,
    members: { maxBytes },
  })
}

/** 503 with `Retry-After`: overload, or a backend that cannot be reached. */
export function unavailable(
  detail: string,
  { cause, retryAfterSeconds = 5 }: { cause?: unknown; retryAfterSeconds?: number } = {},
): Problem {
  return new Problem({
    status: 503,
    code: 'unavailable',
    detail,
    members: { retryAfterSeconds },
    headers: { 'Retry-After': String(retryAfterSeconds) },
    cause,
  })
}

/** 503: the bucket takes no more bytes. Reading and deleting go on. */
export function storageFull(cause: unknown): Problem {
  const retryAfterSeconds = 60
  return new Problem({
    status: 503,
    code: 'storage_full',
    detail: 'there is no room left to store this; nothing was kept',
    members: { retryAfterSeconds },
    headers: { 'Retry-After': String(retryAfterSeconds) },
    cause,
  })
}
