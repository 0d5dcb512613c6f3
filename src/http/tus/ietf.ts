import type { Request, Response } from 'express'
import { dispositionName } from '../../core/files/disposition-name.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import { headerText } from '../../core/text/header-text.ts'
import { hasBody } from '../request.ts'
import { OFFSET_STREAM, TUS_VERSION } from './request.ts'

/**
 * Resumable uploads of the IETF, the successor of tus, translated to tus.
 *
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpbis-resumable-upload/ in the versions 03 to 08, in which `Upload-Complete` has
 *   the same meaning
 */
export interface IetfRequest {
  /** The interoperability version that the client has sent. Undefined for a client of the final standard. */
  version: string | undefined
  /** Whether the body has the last byte of the file. Undefined for HEAD and DELETE. */
  isLast: boolean | undefined
}

const VERSIONS: ReadonlySet<string> = new Set(['5', '6', '7', '8'])

/**
 * Whether a request to a signed link creates an upload in several requests: by tus, or by the protocol of the IETF. URLSession of
 * iOS and macOS sends the headers of the IETF with each of its uploads, also with forms and in versions that we do not know.
 */
export function isResumable(req: Request): boolean {
  if (req.get('Tus-Resumable') !== undefined) return true
  const version = req.get('Upload-Draft-Interop-Version')
  const isKnown = version === undefined || VERSIONS.has(version)
  return isKnown && req.get('Upload-Complete') !== undefined && !req.is('multipart/form-data')
}

/** Reads what only requests of the IETF's protocol have. Undefined for one of tus. @throws Problem 400 */
export function ietfRequest(req: Request): IetfRequest | undefined {
  if (req.get('Tus-Resumable') !== undefined) return undefined
  const [version, complete] = ['Upload-Draft-Interop-Version', 'Upload-Complete'].map((name) => req.get(name))
  if (version === undefined && complete === undefined) return undefined
  if (version !== undefined && !VERSIONS.has(version))
    throw badParameter({
      param: 'Upload-Draft-Interop-Version',
      expected: `one of ${[...VERSIONS].join(', ')}`,
      received: version,
    })
  if (complete !== undefined && complete !== '?0' && complete !== '?1')
    throw badParameter({ param: 'Upload-Complete', expected: '?0 or ?1', received: complete })
  return { version, isLast: complete === undefined ? undefined : complete === '?1' }
}

/**
 * The headers of tus for a request.
 *
 * @param of.size that of the file, when it is known already
 * @throws Problem 400 for bytes without `Upload-Complete`, 411 when the last ones have no `Content-Length`
 */
export function headersOfTus(
  req: Request,
  { isLast }: IetfRequest,
  { method, size }: { method: string; size?: number | undefined },
): Record<string, string> {
  const version = { 'tus-resumable': TUS_VERSION }
  if (method !== 'POST' && method !== 'PATCH') return version
  if (isLast === undefined) throw badParameter({ param: 'Upload-Complete', expected: '?0 or ?1' })
  const [length, offset = '0', total] = ['Content-Length', 'Upload-Offset', 'Upload-Length'].map((name) =>
    req.get(name),
  )
  const isNew = method === 'POST'
  const declared = total ?? (isLast && size === undefined ? endOf(offset, length) : undefined)
  return {
    ...version,
    ...(length === undefined ? {} : { 'content-length': length }),
    ...(!isNew || hasBody(req) ? { 'content-type': OFFSET_STREAM } : {}),
    ...(isNew ? metadataOf(req) : { 'upload-offset': offset }),
    ...(declared === undefined || size !== undefined ? {} : { 'upload-length': declared }),
    ...(isNew && declared === undefined ? { 'upload-defer-length': '1' } : {}),
  }
}

function endOf(offset: string, length: string | undefined): string {
  if (length !== undefined) return String(Number(offset) + Number(length))
  throw new Problem({
    status: 411,
    code: 'length_required',
    detail: 'expected a Content-Length or an Upload-Length with Upload-Complete: ?1 but received none',
  })
}

/** tus-js-client sends the metadata of tus; others name the file as the response to a download would. */
function metadataOf(req: Request): Record<string, string> {
  const given = req.get('Upload-Metadata')
  if (given !== undefined) return { 'upload-metadata': given }
  const name = dispositionName(headerText(req.headers['content-disposition'] ?? ''))
  return name ? { 'upload-metadata': `filename ${Buffer.from(name).toString('base64')}` } : {}
}

/** The headers of a response, in addition to those of tus. @param upload.size undefined while it is not known */
export function ietfHeaders(
  { version }: IetfRequest,
  { offset, size }: { offset: number; size: number | undefined },
): Record<string, string> {
  return {
    'Upload-Offset': String(offset),
    'Upload-Complete': offset === size ? '?1' : '?0',
    ...(version === undefined ? {} : { 'Upload-Draft-Interop-Version': version }),
  }
}

/**
 * Tells a client that its upload is created, before its bytes have arrived. Without it, a client that sends the whole file at once
 * could not resume. Node has no method for this status.
 *
 * @see draft-ietf-httpbis-resumable-upload section 5
 */
export function send104(res: Response, { version }: IetfRequest, address: string): void {
  const named = version === undefined ? '' : `Upload-Draft-Interop-Version: ${version}\r\n`
  if (!res.headersSent)
    res.socket?.write(`HTTP/1.1 104 Upload Resumption Supported\r\nLocation: ${address}\r\n${named}\r\n`)
}
