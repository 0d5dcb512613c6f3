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

const always = (description: string, schema: JsonSchema = text) => ({ description, schema })
/** A response that lists the header may be without it. */
const optional = (description: string, schema?: JsonSchema) => ({
  ...always(description, schema),
  isOptional: true,
})

/** Response headers by name. */
export const HEADERS = {
  'X-Request-Id': always('ID of the request, as in the log.'),
  'Cache-Control': always('How long caches may store the response.'),
  ETag: optional('Version of the response, for conditional requests.'),
  'Last-Modified': optional('When the file was stored.'),
  'Accept-Ranges': optional('`bytes`: byte ranges are supported.'),
  'Content-Range': optional('Range of the bytes in the response.'),
  'Content-Encoding': optional('`br` or `gzip`, for a text that the client accepts compressed.'),
  'Content-Disposition': optional('Name of the file, for a download.'),
  Location: always('URL of the created or requested resource.'),
  Vary: optional('Request headers on which the response depends.'),
  'X-Sluice-Transform': optional('How the file differs from what was requested.'),
  RateLimit: optional('Remaining requests (`r`) and seconds until the window ends (`t`), for each limit.'),
  'RateLimit-Policy': optional(
    'Maximum number of requests (`q`) in a window of seconds (`w`), for each limit.',
  ),
  'Retry-After': optional('Seconds after which to retry.', integer),
  Allow: always('Supported methods.'),
  'WWW-Authenticate': optional('The required authentication.'),
  'Set-Cookie': optional('The cookie of the session, or the signed cookie of a folder.'),
  'Tus-Resumable': always('Version of the tus protocol.'),
  'Tus-Version': always('Supported versions of tus.'),
  'Tus-Extension': always('Supported extensions of tus.'),
  'Tus-Max-Size': always('Maximum size of a file in bytes.', integer),
  'Tus-Checksum-Algorithm': always('Supported checksums.'),
  'Upload-Offset': optional('Number of received bytes.', integer),
  'Upload-Length': optional('Size of the file in bytes.', integer),
  'Upload-Complete': optional(
    '`?1` when all bytes have arrived, `?0` otherwise; for the protocol of the IETF.',
  ),
  'Upload-Concat': optional('`partial` for a part, or `final;` and the URLs of the parts.'),
  'Upload-Defer-Length': optional('1: the size is not known yet.'),
  'Upload-Metadata': optional('Metadata of the upload, as received.'),
  'Upload-Expires': optional('When an incomplete upload expires.'),
  'Upload-Record': optional(
    'The record of the stored file in an array, as JSON. Absent while it is being stored.',
  ),
} satisfies Readonly<Record<string, ResponseHeader>>

export type HeaderName = keyof typeof HEADERS
