import type { Request, RequestHandler } from 'express'
import { badParameter, Problem, unsupportedMediaType } from '../../core/problem.ts'
import { truncate } from '../../core/text/truncate.ts'
import { CHECKSUM_ALGORITHMS, type Checksum, TUS_CHECKSUM } from '../../service/upload/resumable/pieces.ts'
import { digestsIn } from '../body/digests.ts'

/** The path of resumable uploads. */
export const TUS_PATH = '/v1/tus'
/** The supported version of the tus protocol. */
export const TUS_VERSION = '1.0.0'
/** The extensions that `@tus/server` implements. The others are handled around it. */
export const PACKAGE_EXTENSIONS = [
  'creation',
  'creation-with-upload',
  'creation-defer-length',
  'termination',
  'expiration',
]

/**
 * Replaces the method of a request by that in `X-HTTP-Method-Override`, for clients that cannot send PATCH.
 *
 * @see https://tus.io/protocols/resumable-upload#x-http-method-override
 */
export const overrideMethod: RequestHandler = (req, _res, next) => {
  const isOfTus = req.path === TUS_PATH || req.path.startsWith(`${TUS_PATH}/`)
  if (isOfTus) req.method = (req.get('X-HTTP-Method-Override') ?? req.method).toUpperCase()
  next()
}

/** Checks the version of tus. @throws Problem 412 for another version, or none */
export function checkVersion(req: Request): void {
  const received = req.get('Tus-Resumable')
  if (received === TUS_VERSION) return
  throw new Problem({
    status: 412,
    code: 'tus_version',
    detail: `expected ${TUS_VERSION} in the Tus-Resumable header but received ${received === undefined ? 'none' : JSON.stringify(truncate(received))}`,
    members: { expected: TUS_VERSION },
    headers: { 'Tus-Version': TUS_VERSION },
  })
}

/** The media type of the bytes of an upload. */
export const OFFSET_STREAM = 'application/offset+octet-stream'

/** Checks the headers of a request that appends bytes. @throws Problem 400, 415 */
export function checkPatch(req: Request): void {
  const received = req.headers['content-type']
  if (received !== OFFSET_STREAM) throw unsupportedMediaType({ expected: OFFSET_STREAM, received })
  if (req.get('Upload-Offset') === undefined)
    throw badParameter({ param: 'Upload-Offset', expected: 'a header with an offset in bytes' })
}

/**
 * The digest that the client states of the body, by tus or by HTTP. Undefined without one.
 *
 * @throws Problem 400 for an unsupported algorithm or an invalid digest; 411 without Content-Length
 * @see https://tus.io/protocols/resumable-upload#checksum, and RFC 9530 section 2
 */
export function checksumOf(req: Request): Checksum | undefined {
  const stated = tusChecksum(req) ?? httpDigest(req)
  if (!stated) return undefined
  const length = req.get('Content-Length')
  if (length === undefined)
    throw new Problem({
      status: 411,
      code: 'length_required',
      detail: `expected a Content-Length with ${stated.header} but received none`,
    })
  return { ...stated, length: Number(length) }
}

function tusChecksum(req: Request): Omit<Checksum, 'length'> | undefined {
  const header = req.get(TUS_CHECKSUM)
  if (header === undefined) return undefined
  const [name = '', base64 = ''] = header.split(' ')
  const algorithm = CHECKSUM_ALGORITHMS.find((one) => one === name)
  const digest = Buffer.from(base64, 'base64')
  if (algorithm && digest.toString('base64') === base64 && header === `${name} ${base64}`)
    return { header: TUS_CHECKSUM, algorithm, digest }
  throw badParameter({
    param: TUS_CHECKSUM,
    expected: `one of ${CHECKSUM_ALGORITHMS.join(', ')}, a space and the digest in base64`,
    received: header,
  })
}

function httpDigest(req: Request): Omit<Checksum, 'length'> | undefined {
  const [stated] = [
    ...digestsIn('Content-Digest', req.get('Content-Digest')),
    ...digestsIn('Content-MD5', req.get('Content-MD5')),
  ]
  return stated && { ...stated, digest: Buffer.from(stated.base64, 'base64') }
}
