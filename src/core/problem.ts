import { truncate } from './text/truncate.ts'

/** The public part of a {@link Problem}, as JSON: what other processes, queues and callers may receive. */
export interface ProblemJson {
  /** HTTP status, 400 to 599. */
  status: number
  /** Stable, snake case; clients may switch on it. */
  code: string
  /** One sentence for a person: what was expected, for which parameter, and the received value. */
  detail: string
  /** Additional members of the problem document, for example `param` or `retryAfterSeconds`. */
  members?: Readonly<Record<string, string | number>>
  /** Response headers that belong to the status, for example `Allow`. */
  headers?: Readonly<Record<string, string>>
}

export interface ProblemOptions extends ProblemJson {
  /** The error that caused this one. It is logged, and never sent to the caller. */
  cause?: unknown
}

/**
 * An error with a public status, code and text. The code that throws it decides what the caller sees. Only
 * `http/problem.ts` turns it into a response. For any other error the response is 500, without details.
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

  /** The problem that {@link toJSON} has written. It has no cause. */
  static fromJSON({ status, code, detail, members = {}, headers = {} }: ProblemJson): Problem {
    return new Problem({ status, code, detail, members, headers })
  }

  /** The public part: without the cause, and without members or headers when there are none. */
  toJSON(): ProblemJson {
    const { status, code, message: detail, members, headers } = this
    return {
      status,
      code,
      detail,
      ...(Object.keys(members).length > 0 ? { members } : {}),
      ...(Object.keys(headers).length > 0 ? { headers } : {}),
    }
  }

  /** A copy with changes. `members` and `headers` are added to those of this problem; its cause stays. */
  with({ members, headers, ...changes }: Partial<ProblemOptions>): Problem {
    return new Problem({
      ...this.toJSON(),
      ...('cause' in this ? { cause: this.cause } : {}),
      ...changes,
      members: { ...this.members, ...members },
      headers: { ...this.headers, ...headers },
    })
  }
}

/**
 * 400: an invalid value: ``expected an integer from 1 to 5000 for w but received "abc"``. Omit `received` when the
 * parameter is missing.
 */
export function badParameter({
  param,
  expected,
  received,
}: {
  param: string
  expected: string
  received?: unknown
}): Problem {
  const name = truncate(param)
  const came = received === undefined ? undefined : truncate(received)
  return new Problem({
    status: 400,
    code: 'bad_parameter',
    detail: `expected ${expected} for ${name} but received ${came === undefined ? 'none' : JSON.stringify(came)}`,
    members: { param: name, expected, ...(came === undefined ? {} : { received: came }) },
  })
}

/** 400: an invalid path or folder. `expected` continues the words "a relative path": `without a ".." segment`. */
export function badPath({
  param,
  expected,
  received,
}: {
  param: string
  expected: string
  received: string
}): Problem {
  const came = truncate(received)
  return new Problem({
    status: 400,
    code: 'bad_path',
    detail: `expected a relative path ${expected} for ${param} but received ${JSON.stringify(came)}`,
    members: { param, expected: `a relative path ${expected}`, received: came },
  })
}

/** 415. @param options.expected the accepted media types, as `Accept-Post` lists them */
export function unsupportedMediaType({
  expected,
  received,
}: {
  expected: string
  received: string | undefined
}): Problem {
  const came = received === undefined ? 'no content type' : JSON.stringify(truncate(received))
  return new Problem({
    status: 415,
    code: 'unsupported_media_type',
    detail: `expected ${expected} but received ${came}`,
    members: { expected },
    headers: { 'Accept-Post': expected },
  })
}

/** 404. The response is the same for a file that never existed, a deleted file, and a file of another client. */
export function fileNotFound(): Problem {
  return new Problem({ status: 404, code: 'file_not_found', detail: 'This file does not exist.' })
}

/** 404: the file that a parameter names does not exist. */
export function assetNotFound(param: string, key: string): Problem {
  const received = truncate(key)
  return new Problem({
    status: 404,
    code: 'asset_not_found',
    detail: `The file ${JSON.stringify(received)} for ${param} does not exist.`,
    members: { param, received },
  })
}

/** Converts a 422 of the file that a parameter names into a problem of the parameter. Returns other errors unchanged. */
export function wrapAssetError(param: string, cause: unknown): unknown {
  const isItsFault = cause instanceof Problem && cause.status === 422
  return isItsFault ? unusableAsset(param, cause.message, cause) : cause
}

/** 422: the file that a parameter names exists, but cannot be used. The requested file itself is valid. */
export function unusableAsset(param: string, reason: string, cause: unknown): Problem {
  return new Problem({
    status: 422,
    code: NOT_TRANSFORMABLE,
    detail: `The file of ${param} cannot be used: ${reason}`,
    members: { param },
    cause,
  })
}

export const NOT_TRANSFORMABLE = 'not_transformable'

export const BUSY = 'busy'

/** 413. @param what a noun phrase for the detail: `a file` @param maxBytes the limit, inclusive */
export function tooLarge(what: string, maxBytes: number): Problem {
  return new Problem({
    status: 413,
    code: 'too_large',
    detail: `expected ${what} of at most ${maxBytes} bytes but received more; nothing was stored`,
    members: { maxBytes },
  })
}

/** The member and the header of a problem that state when to retry. @param retryAfterSeconds an integer from 1 */
export function retryAfter(retryAfterSeconds: number): Required<Pick<ProblemOptions, 'members' | 'headers'>> {
  return { members: { retryAfterSeconds }, headers: { 'Retry-After': String(retryAfterSeconds) } }
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
    ...retryAfter(retryAfterSeconds),
    cause,
  })
}

/** 503: a limit that callers share is reached. This is no fault of the service, so it is logged in one line without a stack. */
export function busy(detail: string, { retryAfterSeconds = 5 } = {}): Problem {
  const { members, headers } = retryAfter(retryAfterSeconds)
  return new Problem({
    status: 503,
    code: 'unavailable',
    detail,
    members: { ...members, reason: BUSY },
    headers,
  })
}

/** 503: the file was replaced after it was found. A retry returns the new file. */
export function fileReplaced(cause?: unknown): Problem {
  return unavailable(REPLACED, { cause, retryAfterSeconds: 1 })
}

const REPLACED = 'The file was replaced while it was read. Retry.'

/** Whether an error is that of {@link fileReplaced}. */
export function isFileReplaced(error: unknown): boolean {
  return error instanceof Problem && error.message === REPLACED
}

export const STORAGE_FULL = 'storage_full'

/** 503: the storage is full. Reads still work. Deletes work while the reserve of the disk lasts. */
export function storageFull(cause: unknown): Problem {
  return new Problem({
    status: 503,
    code: STORAGE_FULL,
    detail: 'The storage is full. Nothing was stored.',
    ...retryAfter(60),
    cause,
  })
}

/** The result of `work`, or undefined when it fails with a Problem of this status, for example 404 or 503. */
export async function unlessStatus<T>(status: number, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Problem && error.status === status) return undefined
    throw error
  }
}

/** Whether an error is a Problem 503. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Problem && error.status === 503
}
