import { Problem } from '../../core/problem.ts'

/**
 * 400: where we do not go. Names no address: what a host resolves to inside is not the caller's to know. The operator
 * may: `cause` is for the log.
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

/** 502: the other side failed, or did what no server should. */
export function remoteFailed(what: string, cause?: unknown): Problem {
  return new Problem({ status: 502, code: 'remote_failed', detail: `the remote server ${what}`, cause })
}

/** 504 */
export function remoteTimeout(cause?: unknown): Problem {
  return new Problem({
    status: 504,
    code: 'remote_timeout',
    detail: 'The remote server did not respond in time.',
    cause,
  })
}

/** What a failure of the connection or a decoder is for the caller. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const { code } = error as NodeJS.ErrnoException
  return code === 'ETIMEDOUT'
    ? remoteTimeout(error)
    : remoteFailed('could not be reached, or closed the connection', error)
}
