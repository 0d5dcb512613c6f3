import { once } from 'node:events'
import { type Response, Router } from 'express'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { Archive } from '../../service/archive/archive.ts'
import type { ArchiveLinks } from '../../service/archive/links.ts'
import type { ArchiveFiles } from '../../service/archive/sources.ts'
import type { LayOutArchive } from '../../service/archive/stored-archive.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { jsonBody } from '../body/json.ts'
import { callerBySecret } from '../caller/caller.ts'
import { trustedCallerOf } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { attachment } from '../delivery/content-disposition.ts'
import { methodNotAllowed } from '../problem.ts'
import { openPieces } from '../readers/open-pieces.ts'
import type { Readers } from '../readers/readers.ts'
import { type PieceOptions, sendPieces } from '../readers/send-pieces.ts'
import { clientGone } from '../request.ts'
import { type SendArchive, zipLinkRoutes } from './link-routes.ts'
import { readZipRequest } from './request.ts'

interface Dependencies {
  clients: Clients
  archive: Archive
  archiveLinks: ArchiveLinks
  layOutArchive: LayOutArchive
  limits: Limits
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
  readers: Readers
  baseUrl: string
}

// Enough for 100 items with the longest paths, names and parameters.
const BODY_MAX_BYTES = 1024 * 1024

/** `POST /v1/zip`: several files in one archive, each as its own delivery URL returns it. And links to such archives. */
export function zipRoutes(options: Dependencies): Router {
  const { clients, archive, layOutArchive, limits, minBytesPerSecond, readers } = options
  const routes = Router({ strict: true, caseSensitive: true })

  const send: SendArchive = async (req, res, files) => {
    setHeaders(res, files)
    if (req.method === 'HEAD') {
      res.end()
      return
    }
    const { signal } = files
    const open = async ({ newPiece }: PieceOptions) => {
      const body = archive({ ...files, newPiece })
      // It may fail between the two waits. Without a listener, the error would end the process.
      body.on('error', () => {})
      // Until the first byte is sent, a failure can still get its own status.
      await once(body, 'readable')
      return body
    }
    await sendPieces(res, open, { readers, signal })
  }

  routes.post('/v1/zip', async (req, res) => {
    const { client, folder } = callerBySecret(req, clients, 'read')
    const { items, archiveName } = readZipRequest(
      await jsonBody(req, { maxBytes: BODY_MAX_BYTES, minBytesPerSecond }),
    )
    // After all checks: a refused request consumes no points.
    await consumeRateLimit(req, res, { limits, limited: 'zip', client })
    const signal = clientGone(res)
    const files = { client, caller: trustedCallerOf(req), archiveName, items, folder, signal }
    const stored = await layOutArchive(files)
    if (!stored || stored.isCompressible) return send(req, res, files)
    setHeaders(res, files)
    res.setHeader('Content-Length', stored.asset.size)
    res.setHeader('ETag', `"${stored.etag}"`)
    await sendPieces(res, (how) => openPieces(stored.asset, how), { readers, signal })
  })
  routes.all('/v1/zip', methodNotAllowed('POST'))
  routes.use(zipLinkRoutes({ ...options, send }))
  return routes
}

function setHeaders(res: Response, { archiveName }: Pick<ArchiveFiles, 'archiveName'>): void {
  res.setHeader('Content-Disposition', attachment(archiveName))
  res.setHeader('Content-Type', 'application/zip')
  res.setHeader('Cache-Control', 'no-store')
  res.setHeader('X-Content-Type-Options', 'nosniff')
}
