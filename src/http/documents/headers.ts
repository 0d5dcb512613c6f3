import type { JsonSchema } from './json-schema.ts'

/** A response header. */
export interface ResponseHeader {
  description: string
  schema: JsonSchema
  /** Whether a response that lists it may be without it. */
  isOptional?: boolean
}

const text = { type: 'string' }
const integer = { type: 'integer', minimum: 0 }
const optional = true

/** Response headers by name. */
export const HEADERS = {
  'X-Request-Id': { description: 'ID of the request, as in the log.', schema: text },
  'Cache-Control': { description: 'How long caches may store the response.', schema: text },
  ETag: {
    description: 'Version of the response, for conditional requests.',
    schema: text,
    isOptional: optional,
  },
  'Last-Modified': { description: 'When the file was stored.', schema: text, isOptional: optional },
  'Accept-Ranges': { description: '`bytes`: byte ranges are supported.', schema: text, isOptional: optional },
  'Content-Range': { description: 'Range of the bytes in the response.', schema: text, isOptional: optional },
  'Content-Encoding': {
    description: '`br` or `gzip`, for a text that the client accepts compressed.',
    schema: text,
    isOptional: optional,
  },
  'Content-Disposition': {
    description: 'Name of the file, for a download.',
    schema: text,
    isOptional: optional,
  },
  Location: { description: 'URL of the created or requested resource.', schema: text },
  Vary: { description: 'Request headers on which the response depends.', schema: text, isOptional: optional },
  'X-Sluice-Transform': {
    description: 'How the file differs from what was requested.',
    schema: text,
    isOptional: optional,
  },
  RateLimit: {
    description: 'Remaining requests (`r`) and seconds until the window ends (`t`), for each limit.',
    schema: text,
    isOptional: optional,
  },
  'RateLimit-Policy': {
    description: 'Maximum number of requests (`q`) in a window of seconds (`w`), for each limit.',
    schema: text,
    isOptional: optional,
  },
  'Retry-After': { description: 'Seconds after which to retry.', schema: integer, isOptional: optional },
  Allow: { description: 'Supported methods.', schema: text },
  'WWW-Authenticate': { description: 'The required authentication.', schema: text, isOptional: optional },
  'Set-Cookie': {
    description: 'The cookie of the session, or the signed cookie of a folder.',
    schema: text,
    isOptional: optional,
  },
  'Tus-Resumable': { description: 'Version of the tus protocol.', schema: text },
  'Tus-Version': { description: 'Supported versions of tus.', schema: text },
  'Tus-Extension': { description: 'Supported extensions of tus.', schema: text },
  'Tus-Max-Size': { description: 'Maximum size of a file in bytes.', schema: integer },
  'Tus-Checksum-Algorithm': { description: 'Supported checksums.', schema: text },
  'Upload-Offset': { description: 'Number of received bytes.', schema: integer, isOptional: optional },
  'Upload-Length': { description: 'Size of the file in bytes.', schema: integer, isOptional: optional },
  'Upload-Complete': {
    description: '`?1` when all bytes have arrived, `?0` otherwise; for the protocol of the IETF.',
    schema: text,
    isOptional: optional,
  },
  'Upload-Concat': {
    description: '`partial` for a part, or `final;` and the URLs of the parts.',
    schema: text,
    isOptional: optional,
  },
  'Upload-Defer-Length': { description: '1: the size is not known yet.', schema: text, isOptional: optional },
  'Upload-Metadata': {
    description: 'Metadata of the upload, as received.',
    schema: text,
    isOptional: optional,
  },
  'Upload-Expires': { description: 'When an incomplete upload expires.', schema: text, isOptional: optional },
  'Upload-Record': {
    description: 'The record of the stored file in an array, as JSON. Absent while it is being stored.',
    schema: text,
    isOptional: optional,
  },
} satisfies Readonly<Record<string, ResponseHeader>>

export type HeaderName = keyof typeof HEADERS
