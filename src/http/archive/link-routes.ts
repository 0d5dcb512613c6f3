import { type Request, type Response, Router } from 'express'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { ArchiveLinks } from '../../service/archive/links.ts'
import type { ArchiveFiles } from '../../service/archive/sources.ts'
import type { LayOutArchive } from '../../service/archive/stored-archive.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { jsonBody } from '../body/json.ts'
import { callerBySecret } from '../caller/caller.ts'
import { trustedCallerOf } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { sendAsset } from '../delivery/send.ts'
import { methodNotAllowed } from '../problem.ts'
import type { Readers } from '../readers/readers.ts'
import { clientGone } from '../request.ts'
import { stateOf } from '../request-state.ts'
import { readZipRequest } from './request.ts'

/** Sends an archive while it is created. */
export type SendArchive = (req: Request, res: Response, files: ArchiveFiles) => Promise<void>

interface Dependencies {
  clients: Clients
  archiveLinks: ArchiveLinks
  layOutArchive: LayOutArchive
  send: SendArchive
  limits: Limits
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
  readers: Readers
  baseUrl: string
}

const LINK = '/v1/zip/:id/:archiveName'
// The link is stored in the index.
const BODY_MAX_BYTES = 64 * 1024

/**
 * `POST /v1/zip/links` returns a link to an archive. `GET` of the link downloads the archive without a secret. When all its files
 * are stored, they are not compressed, and the download can be resumed.
 */
export function zipLinkRoutes(options: Dependencies): Router {
  const { clients, archiveLinks, layOutArchive, limits, minBytesPerSecond, baseUrl } = options
  const routes = Router({ strict: true, caseSensitive: true })
  routes.post('/v1/zip/links', async (req, res) => {
    const grant = callerBySecret(req, clients, 'read')
    const { client, folder } = grant
    const body = await jsonBody(req, { maxBytes: BODY_MAX_BYTES, minBytesPerSecond })
    const { items, archiveName } = readZipRequest(body)
    await consumeRateLimit(req, res, { limits, limited: 'zip', client })
    // Now, so that the download begins at once.
    const files = {
      client,
      caller: trustedCallerOf(req),
      archiveName,
      items,
      folder,
      signal: clientGone(res),
    }
    const etag = (await layOutArchive(files, { addsChecksums: true }))?.etag
    const { id, expiresAt } = await archiveLinks.create({ archiveName, items, etag }, grant)
    const url = `${baseUrl}/v1/zip/${id}/${encodeURIComponent(archiveName)}`
    res.setHeader('Cache-Control', 'no-store')
    res.status(201).json({ url, expiresAt: new Date(expiresAt).toISOString() })
  })
  routes.all('/v1/zip/links', methodNotAllowed('POST'))
  routes.get(LINK, (req, res) => download(req, res, options))
  routes.all(LINK, methodNotAllowed('GET', 'HEAD'))
  return routes
}

async function download(
  req: Request,
  res: Response,
  { archiveLinks, layOutArchive, send, limits, readers }: Dependencies,
): Promise<void> {
  const { id = '', archiveName = '' } = req.params as Record<string, string>
  const { delivers, ...files } = await archiveLinks.open(id, archiveName)
  const { client } = files
  stateOf(req).clientId = client.id
  // Ranges count, too: each one finds all files of the archive.
  await consumeRateLimit(req, res, { limits, limited: 'zip', client })
  const signal = clientGone(res)
  const request = { ...files, caller: trustedCallerOf(req), signal }
  const stored = await layOutArchive(request, { addsChecksums: true })
  // Not the answer to a HEAD: it delivers no bytes.
  const isSame = req.method !== 'GET' || (await delivers(stored?.etag))
  if (!stored) return send(req, res, request)
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
    isPrivate: true,
    readers,
    signal,
  })
}
