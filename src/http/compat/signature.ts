import { Problem } from '../../core/problem.ts'

/** 403: the signature of a URL in the format of another service does not match. */
export function invalidSignature(): Problem {
  return new Problem({
    status: 403,
    code: 'url_invalid',
    detail: 'Invalid signature: the URL was changed, or it was signed with another key.',
  })
}
