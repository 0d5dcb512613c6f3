import { ANY_FILE } from '../documents/contents.ts'
import type { Success } from '../documents/endpoint.ts'
import { header } from '../documents/parameters.ts'
/** The headers of conditional and range requests. */
export const CONDITIONS = [
  header('Range', 'Up to 8 byte ranges.'),
  header('If-None-Match', 'Returns 304 if one of these is the `ETag` of the file.'),
  header('If-Modified-Since', 'Returns 304 if the file was not stored later.'),
  header('If-Match', 'Returns 412 unless one of these is the `ETag` of the file.'),
  header('If-Unmodified-Since', 'Returns 412 if the file was stored later.'),
  header('If-Range', 'Ignores `Range` unless this is the `ETag` or the date of the file.'),
]
/** The headers of a response that can be revalidated. */
export const VALIDATORS = ['Cache-Control', 'ETag', 'Last-Modified', 'Accept-Ranges', 'Vary'] as const
/** The responses with a file. */
export const SENT_FILE: Readonly<Record<number, Success>> = {
  200: {
    description: 'The file.',
    content: ANY_FILE,
    headers: [
      ...VALIDATORS,
      'Content-Encoding',
      'Content-Disposition',
      'Content-Range',
      'X-Sluice-Transform',
    ],
  },
  206: {
    description: 'The requested byte ranges; several of them as `multipart/byteranges`.',
    content: ANY_FILE,
    headers: [...VALIDATORS, 'Content-Disposition', 'Content-Range', 'X-Sluice-Transform'],
  },
  304: {
    description: 'The file has not changed.',
    headers: [...VALIDATORS, 'X-Sluice-Transform'],
  },
}
/** The response for a file that was moved. */
export const MOVED: Readonly<Record<number, Success>> = {
  308: {
    description: 'The new URL of a file that was moved with `redirect`.',
    headers: ['Location', 'Cache-Control'],
  },
}
/** The response for a large object that its bucket sends. */
export const REDIRECTED: Readonly<Record<number, Success>> = {
  302: {
    description: 'A URL of the bucket, which sends this large file.',
    headers: ['Location', 'Cache-Control', 'Vary', 'X-Sluice-Transform'],
  },
}
/** The responses with a stored file. */
export const STORED_FILE: Readonly<Record<number, Success>> = {
  ...SENT_FILE,
  302: {
    description: 'The URL of the playlist of a stream; or a URL of the bucket, which sends this large file.',
    content: { 'text/plain': { json: { type: 'string' } }, 'text/html': { json: { type: 'string' } } },
    headers: ['Location', 'Cache-Control', 'Vary', 'X-Sluice-Transform'],
  },
}
