import { Problem } from '../../core/problem.ts'

/**
 * 400: the URL may not be fetched. The text has no IP address: callers must not learn addresses of internal hosts. The
 * operator may: `cause` is only logged.
 */
export function notAllowed(
  expected: string,
  { redirected, cause }: { redirected: boolean; cause?: Error },
): Problem {
  const what = redirected
    ? 'the URL redirects to a URL that may not be fetched'
    : 'the URL may not be fetched'
  return new Problem({ status: 400, code: 'url_not_allowed', detail: `${what}: expected ${expected}`, cause })
}

/** 502: the remote server failed, or violated the protocol. */
export function remoteFailed(what: string, cause?: unknown): Problem {
  return new Problem({ status: 502, code: 'remote_failed', detail: `the remote server ${what}`, cause })
}

/** 504: the remote server took too long. */
export function remoteTimeout(cause?: unknown): Problem {
  return new Problem({
    status: 504,
    code: 'remote_timeout',
    detail: 'The remote server did not respond in time.',
    cause,
  })
}

/** Converts an error of the connection or of a decoder into a Problem. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const { code } = error as NodeJS.ErrnoException
  return code === 'ETIMEDOUT'
    ? remoteTimeout(error)
    : remoteFailed('could not be reached, or closed the connection', error)
}
