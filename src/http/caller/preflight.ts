import type { RequestHandler } from 'express'

// Firefox stores it for a day, other browsers for two hours at most.
const MAX_AGE_SECONDS = 86_400

/**
 * Answers OPTIONS, and passes other requests on.
 *
 * @param options.methods which pages may use, as in the header
 * @param options.headers which pages may send, as in the header
 * @param options.allow all methods of the path. Absent: the response has no `Allow`
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export function preflight({
  methods,
  headers,
  allow,
}: {
  methods: string
  headers: string
  allow?: string
}): RequestHandler {
  return (req, res, next) => {
    if (req.method !== 'OPTIONS') return next()
    if (allow !== undefined) res.setHeader('Allow', allow)
    res.setHeader('Access-Control-Allow-Methods', methods)
    res.setHeader('Access-Control-Allow-Headers', headers)
    res.setHeader('Access-Control-Max-Age', MAX_AGE_SECONDS)
    res.status(204).end()
  }
}
