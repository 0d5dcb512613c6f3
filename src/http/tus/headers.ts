import type { RequestHandler } from 'express'
import { CHECKSUM_ALGORITHMS } from '../../service/upload/resumable/pieces.ts'
import { preflight } from '../caller/preflight.ts'
import { PACKAGE_EXTENSIONS, TUS_VERSION } from './request.ts'

/** Headers that a page may send. */
export const TUS_ALLOWED_HEADERS = [
  'Authorization, Content-Type, Tus-Resumable, Upload-Offset, Upload-Length, Upload-Defer-Length',
  'Upload-Metadata, Upload-Checksum, Upload-Concat, Upload-Complete, Upload-Draft-Interop-Version',
  'Content-Digest, Repr-Digest, Content-MD5, Content-Disposition, X-HTTP-Method-Override, X-Requested-With, X-Request-Id',
].join(', ')

const EXPOSED_HEADERS = [
  'Location, Retry-After, X-Request-Id, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size',
  'Tus-Checksum-Algorithm, Upload-Offset, Upload-Length, Upload-Defer-Length, Upload-Metadata',
  'Upload-Concat, Upload-Complete, Upload-Draft-Interop-Version, Upload-Expires, Upload-Record, RateLimit, RateLimit-Policy',
].join(', ')
const EXTENSIONS = [...PACKAGE_EXTENSIONS, 'checksum', 'concatenation'].join(',')

/** CORS for any origin: pages send their secret in a header, never in a cookie. */
export const corsTus: RequestHandler = (_req, res, next) => {
  res.setHeader('Access-Control-Allow-Origin', '*')
  res.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS)
  res.setHeader('Cache-Control', 'no-store')
  next()
}

/**
 * Answers OPTIONS: the supported version and extensions of tus, and the methods and headers that a page may use.
 *
 * @see https://tus.io/protocols/resumable-upload#options
 */
export function tusOptions({ maxBytes }: { maxBytes: number }): RequestHandler {
  const answerPreflight = preflight({
    methods: 'POST, HEAD, GET, PATCH, DELETE, OPTIONS',
    headers: TUS_ALLOWED_HEADERS,
  })
  return (req, res, next) => {
    res.setHeader('Tus-Resumable', TUS_VERSION)
    res.setHeader('Tus-Version', TUS_VERSION)
    res.setHeader('Tus-Extension', EXTENSIONS)
    res.setHeader('Tus-Checksum-Algorithm', CHECKSUM_ALGORITHMS.join(','))
    res.setHeader('Tus-Max-Size', maxBytes)
    answerPreflight(req, res, next)
  }
}
