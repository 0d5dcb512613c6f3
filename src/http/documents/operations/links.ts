import { EXPIRES_MAX_SECONDS } from '../../../core/signing/upload-link.ts'
import { zipRequest } from '../../archive/request.ts'
import { signRequest } from '../../signing/upload-link-routes.ts'
import { signUrlRequest } from '../../signing/url-routes.ts'
import { archiveLink, uploadLink, urlSignatures } from '../../wire/links.ts'
import type { Endpoint } from '../endpoint.ts'
import { EXAMPLE } from '../examples.ts'
import { query } from '../parameters.ts'
import { CONDITIONS } from './sent.ts'
import { FILE_BYTES } from './uploads.ts'

const { baseUrl, token, sourceName, key } = EXAMPLE

const EXAMPLE_LINK = {
  url: `${baseUrl}/v1/upload/sign/${EXAMPLE.linkId}/${EXAMPLE.linkSignature}/avatars?expirationIn=3600`,
  method: 'PUT',
  expiresAt: '2026-11-30T13:00:00.000Z',
}
const LINK = {
  description: 'The link.',
  content: { 'application/json': { schema: uploadLink } },
  headers: ['Cache-Control', 'RateLimit', 'RateLimit-Policy'],
} as const

/** Links that work without a secret, and archives. */
export const LINKS: readonly Endpoint[] = [
  {
    route: 'POST /v1/sign',
    id: 'createUploadLink',
    tag: 'Links',
    summary: 'Create a signed upload link',
    access: 'secret',
    body: { 'application/json': { schema: signRequest } },
    responses: { 200: LINK },
    examples: [
      {
        id: 'avatar',
        summary: 'One image of at most 5 MB, within an hour',
        body: { folder: 'avatars', expiresIn: 3600, maxBytes: 5000000, types: ['image/*'] },
        status: 200,
        response: EXAMPLE_LINK,
      },
    ],
  },
  {
    route: 'GET /v1/sign/*path',
    path: '/v1/sign/{folder}',
    id: 'getUploadLink',
    tag: 'Links',
    summary: 'Create a signed upload link, by GET',
    access: 'secret',
    parameters: [
      query(
        'expirationIn',
        'When the link expires, in seconds.',
        { type: 'integer', minimum: 1, maximum: EXPIRES_MAX_SECONDS },
        { required: true },
      ),
    ],
    responses: { 200: { ...LINK, headers: ['Cache-Control'] } },
    examples: [
      {
        id: 'avatar',
        summary: 'A link for an hour',
        parameters: { folder: 'avatars', expirationIn: '3600' },
        status: 200,
        response: EXAMPLE_LINK,
      },
    ],
  },
  {
    route: 'POST /v1/sign/url',
    id: 'signUrl',
    tag: 'Links',
    summary: 'Sign delivery URLs',
    description: 'The client needs a URL key, which the operator adds.',
    access: 'secret',
    body: { 'application/json': { schema: signUrlRequest } },
    responses: {
      200: {
        description: 'The signed URL; with `urls`, the outcome for each of them.',
        content: { 'application/json': { schema: urlSignatures } },
        headers: ['Cache-Control', 'RateLimit', 'RateLimit-Policy'],
      },
    },
    examples: [
      {
        id: 'hour',
        summary: 'A URL for an hour',
        body: { url: `/v1/image/upload/${token}/${sourceName}?w=300`, expiresIn: 3600 },
        status: 200,
        response: {
          url: `${baseUrl}/v1/image/upload/${token}/${sourceName}?w=300&exp=1796040000&s=1.c2lnbmF0dXJl`,
          expiresAt: '2026-11-30T13:00:00.000Z',
        },
      },
      {
        id: 'several',
        summary: 'Several URLs',
        body: { urls: [`/v1/image/upload/${token}/${sourceName}?w=300`, '/v1/zip'] },
        status: 200,
        response: {
          results: [
            {
              status: 'signed',
              url: `${baseUrl}/v1/image/upload/${token}/${sourceName}?w=300&s=1.c2lnbmF0dXJl`,
            },
            {
              status: 'error',
              code: 'bad_parameter',
              detail: 'expected a delivery URL with this client\'s token for url but received "/v1/zip"',
            },
          ],
        },
      },
    ],
  },
  {
    route: 'POST /v1/zip',
    id: 'createArchive',
    tag: 'Files',
    summary: 'Stream a ZIP archive of several files',
    access: 'secret',
    body: { 'application/json': { schema: zipRequest } },
    responses: {
      200: {
        description: 'The archive.',
        content: { 'application/zip': FILE_BYTES },
        headers: ['Content-Disposition', 'Cache-Control', 'RateLimit', 'RateLimit-Policy'],
      },
    },
    examples: [
      {
        id: 'photo',
        summary: 'A photo, 300 px wide',
        body: {
          files: [{ path: key, params: { w: 300 }, name: 'small.jpg' }],
          archiveName: 'photos.zip',
        },
        status: 200,
      },
    ],
  },
  {
    route: 'POST /v1/zip/links',
    id: 'createArchiveLink',
    tag: 'Files',
    summary: 'Create a link to a ZIP archive',
    description: 'The link is valid for 24 hours. It needs no secret, and its download can be resumed.',
    access: 'secret',
    body: { 'application/json': { schema: zipRequest } },
    responses: {
      201: {
        description: 'The link.',
        content: { 'application/json': { schema: archiveLink } },
        headers: ['Cache-Control', 'RateLimit', 'RateLimit-Policy'],
      },
    },
    examples: [
      {
        id: 'photo',
        summary: 'A link to a photo in an archive',
        body: { files: [{ path: key }], archiveName: 'photos.zip' },
        status: 201,
      },
    ],
  },
  {
    route: 'GET /v1/zip/:id/:archiveName',
    id: 'getArchive',
    tag: 'Files',
    summary: 'Download a ZIP archive by a link',
    description:
      'When all its files are stored, the response has a `Content-Length` and an `ETag`, and byte ranges resume the download.',
    access: 'link',
    parameters: CONDITIONS,
    responses: {
      200: {
        description: 'The archive.',
        content: { 'application/zip': FILE_BYTES },
        headers: ['Content-Disposition', 'Cache-Control', 'ETag', 'Last-Modified', 'Accept-Ranges'],
      },
      206: {
        description: 'The requested byte ranges of the archive.',
        content: { 'application/zip': FILE_BYTES, 'multipart/byteranges': FILE_BYTES },
        headers: [
          'Content-Disposition',
          'Cache-Control',
          'ETag',
          'Last-Modified',
          'Accept-Ranges',
          'Content-Range',
        ],
      },
      304: {
        description: 'The archive has not changed.',
        headers: ['Cache-Control', 'ETag', 'Last-Modified'],
      },
    },
    examples: [
      {
        id: 'photos',
        summary: 'Photos',
        parameters: { id: EXAMPLE.archiveLinkId, archiveName: 'photos.zip' },
        status: 200,
      },
    ],
  },
]
