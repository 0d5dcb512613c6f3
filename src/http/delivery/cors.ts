import type { RequestHandler } from 'express'
import { permitRead } from '../caller/page-origin.ts'
import { preflight } from '../caller/preflight.ts'

const METHODS = 'GET, HEAD, OPTIONS'
const answerPreflight = preflight({
  methods: METHODS,
  headers:
    'Range, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, If-Range, Want-Repr-Digest',
  allow: METHODS,
})

/** Permits pages of any origin to display and read the response, and those of listed origins to send signed cookies. */
export const corsPublicRead: RequestHandler = (req, res, next) => {
  permitRead(req, res)
  res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin')
  res.setHeader('X-Content-Type-Options', 'nosniff')
  res.setHeader(
    'Access-Control-Expose-Headers',
    'Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, Repr-Digest, Retry-After, X-Request-Id, X-Sluice-Transform',
  )
  answerPreflight(req, res, next)
}
