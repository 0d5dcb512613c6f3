import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { Archive } from '../../service/archive/archive.ts'
import type { LayOutArchive } from '../../service/archive/stored-archive.ts'
import { trustedCallerOf } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { FILE_PROBLEMS, MEDIA_PROBLEMS, TRANSFORMED_PROBLEMS } from '../delivery/problems.ts'
import { FILE_BYTES } from '../documents/contents.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { endpoint } from '../endpoint/endpoint.ts'
import { openPieces } from '../readers/open-pieces.ts'
import type { Readers } from '../readers/readers.ts'
import { sendPieces } from '../readers/send-pieces.ts'
import { itemsOf, zipRequest } from './request.ts'
import { sendArchive, setArchiveHeaders } from './send.ts'

/** The services of the endpoints for archives. */
export interface ArchiveServices {
  archive: Archive
  layOutArchive: LayOutArchive
  limits: Limits
  readers: Readers
}

// Enough for 100 items with the longest paths, names and parameters.
const BODY_MAX_BYTES = 1024 * 1024

const { key } = EXAMPLE

/** Several files in one archive, each as its own delivery URL returns it. */
export const createArchive = endpoint({
  route: 'POST /v1/zip',
  id: 'createArchive',
  tag: 'Files',
  summary: 'Stream a ZIP archive of several files',
  access: { secret: 'read' },
  body: zipRequest,
  bodyMaxBytes: BODY_MAX_BYTES,
  responses: {
    200: {
      description: 'The archive.',
      content: { 'application/zip': FILE_BYTES },
      headers: ['Content-Disposition', 'Cache-Control', 'RateLimit', 'RateLimit-Policy'],
    },
  },
  problems: [
    ...FILE_PROBLEMS,
    ...TRANSFORMED_PROBLEMS,
    ...MEDIA_PROBLEMS,
    '500 file_damaged',
    '503 too_many_slow_readers',
  ],
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

  async handle(services: ArchiveServices, { req, res, caller: { client, folder }, body, signal }) {
    const { layOutArchive, limits, readers } = services
    const { archiveName } = body
    const items = itemsOf(body.files)
    // After all checks: a refused request consumes no points.
    await consumeRateLimit(req, res, { limits, limited: 'zip', client })
    const files = { client, caller: trustedCallerOf(req), archiveName, items, folder, signal }
    const stored = await layOutArchive(files)
    if (!stored || stored.isCompressible) {
      await sendArchive(req, res, { ...services, files })
      return undefined
    }
    setArchiveHeaders(res, files)
    res.setHeader('Content-Length', stored.asset.size)
    res.setHeader('ETag', `"${stored.etag}"`)
    await sendPieces(res, (how) => openPieces(stored.asset, how), { readers, signal })
    return undefined
  },
})
