import type { Problem } from '../../core/problem.ts'
import { urlInvalid } from '../caller/signed-url.ts'

/** 403: the signature of a URL in the format of another service does not match. */
export function invalidSignature(): Problem {
  return urlInvalid('it was signed with another key')
}
