import type { RequestHandler } from 'express'

/** Permits pages of any origin to display and read the response. */
export const corsPublicRead: RequestHandler = (req, res, next) => {
  res.setHeader('Access-Control-Allow-Origin', '*')
  res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin')
  res.setHeader('X-Content-Type-Options', 'nosniff')
  res.setHeader(
    'Access-Control-Expose-Headers',
    'Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, Repr-Digest, Retry-After, X-Request-Id, X-Sluice-Transform',
  )
  if (req.method !== 'OPTIONS') return next()
  res.setHeader('Allow', 'GET, HEAD, OPTIONS')
  res.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, OPTIONS')
  res.setHeader(
    'Access-Control-Allow-Headers',
    'Range, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, If-Range, Want-Repr-Digest',
  )
  res.setHeader('Access-Control-Max-Age', '86400')
  res.status(204).end()
}
