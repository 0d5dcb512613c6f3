import { z } from 'zod'
import type { ArchiveLinks } from '../../service/archive/links.ts'
import { trustedCallerOf } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { FILE_PROBLEMS, SENT_PROBLEMS } from '../delivery/problems.ts'
import { CONDITIONS } from '../delivery/responses.ts'
import { sendAsset } from '../delivery/send.ts'
import { FILE_BYTES } from '../documents/contents.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { replyOf } from '../endpoint/named.ts'
import { stateOf } from '../request-state.ts'
import { instant, iso } from '../wire/instant.ts'
import { itemsOf, zipRequest } from './request.ts'
import { sendArchive } from './send.ts'
import type { ArchiveServices } from './zip.ts'

/** The services that handle these requests. */
export interface Services extends ArchiveServices {
  archiveLinks: ArchiveLinks
  baseUrl: string
}

const archiveLink = replyOf('ArchiveLink', 'A link to an archive.', {
  url: z.string().describe('URL of the archive, which needs no secret.'),
  expiresAt: instant('When the link expires.'),
})

const { key } = EXAMPLE

export const createArchiveLink = endpoint({
  route: 'POST /v1/zip/links',
  id: 'createArchiveLink',
  tag: 'Files',
  summary: 'Create a link to a ZIP archive',
  description: 'The link is valid for 24 hours. It needs no secret, and its download can be resumed.',
  access: { secret: 'read' },
  body: zipRequest,
  once: true,
  // The link is stored in the index.
  bodyMaxBytes: 64 * 1024,
  responses: { 201: json(archiveLink, 'The link.', ['RateLimit', 'RateLimit-Policy']) },
  problems: ['400 bad_path', '429 rate_limited'],
  examples: [
    {
      id: 'photo',
      summary: 'A link to a photo in an archive',
      body: { files: [{ path: key }], archiveName: 'photos.zip' },
      status: 201,
    },
  ],

  async handle(
    { archiveLinks, layOutArchive, limits, baseUrl }: Services,
    { req, res, caller, body, signal },
  ) {
    const { client, folder } = caller
    const { archiveName } = body
    const items = itemsOf(body.files)
    await consumeRateLimit(req, res, { limits, limited: 'zip', client })
    // Now, so that the download begins at once.
    const files = { client, caller: trustedCallerOf(req), archiveName, items, folder, signal }
    const etag = (await layOutArchive(files, { addsChecksums: true }))?.etag
    const { id, expiresAt } = await archiveLinks.create({ archiveName, items, etag }, caller)
    const url = `${baseUrl}/v1/zip/${id}/${encodeURIComponent(archiveName)}`
    return { status: 201, json: { url, expiresAt: iso(expiresAt) } }
  },
})

/** When all its files are stored, they are not compressed, and the download can be resumed. */
export const getArchive = endpoint({
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
  problems: [...FILE_PROBLEMS, ...SENT_PROBLEMS, '429 rate_limited'],
  examples: [
    {
      id: 'photos',
      summary: 'Photos',
      parameters: { id: EXAMPLE.archiveLinkId, archiveName: 'photos.zip' },
      status: 200,
    },
  ],

  async handle(services: Services, { req, res, params: { id = '', archiveName = '' }, signal }) {
    const { archiveLinks, layOutArchive, limits, readers } = services
    const { delivers, ...linked } = await archiveLinks.open(id, archiveName)
    const { client } = linked
    stateOf(req).clientId = client.id
    // Ranges count, too: each one finds all files of the archive.
    await consumeRateLimit(req, res, { limits, limited: 'zip', client })
    const files = { ...linked, caller: trustedCallerOf(req), signal }
    const stored = await layOutArchive(files, { addsChecksums: true })
    // Not the answer to a HEAD: it delivers no bytes.
    const isSame = req.method !== 'GET' || (await delivers(stored?.etag))
    if (!stored) {
      await sendArchive(req, res, { ...services, files })
      return undefined
    }
    const { asset, etag } = stored
    // Many programs resume without If-Range. A part of another archive would spoil what they have.
    if (!isSame && !req.get('If-Range')?.startsWith('"')) delete req.headers.range
    // The date is that of the newest file: it remains when another file is deleted.
    for (const condition of ['if-modified-since', 'if-unmodified-since']) delete req.headers[condition]
    await sendAsset(req, res, {
      asset,
      etag,
      downloadName: archiveName,
      fullContentRange: 'never',
      variesBy: [],
      lifetime: 'private',
      readers,
      signal,
    })
    return undefined
  },
})
