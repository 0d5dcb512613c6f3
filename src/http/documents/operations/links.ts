import { zipRequest } from '../../archive/request.ts'
import { archiveLink } from '../../wire/links.ts'
import type { Endpoint } from '../endpoint.ts'
import { EXAMPLE } from '../examples.ts'
import { CONDITIONS } from './sent.ts'
import { FILE_BYTES } from './uploads.ts'

const { key } = EXAMPLE

/** Archives. */
export const LINKS: readonly Endpoint[] = [
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
