import { Problem } from './problem.ts'

/** 404: no route matches the path. */
export function routeNotFound(): Problem {
  return new Problem({ status: 404, code: 'route_not_found', detail: 'No route matches this path.' })
}

/** 403: the URL has expired. */
export function urlExpired(): Problem {
  return refusal('url_expired', 'This signed URL has expired. Request a new one.')
}

/** 403: the signature does not match, because the URL was changed or for another reason, as a clause. */
export function urlInvalid(reason: string): Problem {
  return refusal('url_invalid', `Invalid signature: the URL was changed, or ${reason}.`)
}

/** 403: the file is delivered only by signed URLs. @param options.mayHaveCookie whether a signed cookie may open it, too */
export function needsSignature({ mayHaveCookie = false } = {}): Problem {
  const cookie = mayHaveCookie ? ', or a signed cookie of its folder' : ''
  return refusal('url_unsigned', `This file needs a signed URL${cookie}.`)
}

function refusal(code: string, detail: string): Problem {
  return new Problem({ status: 403, code, detail })
}
