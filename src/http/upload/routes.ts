import { type Request, type RequestHandler, type Response, Router } from 'express'
import { folderWithin } from '../../core/clients/grant.ts'
import type { Format } from '../../core/media/formats.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { EagerTransforms } from '../../service/delivery/eager-transforms.ts'
import type { RemoteUpload } from '../../service/remote/upload.ts'
import type { Upload } from '../../service/upload/upload-request.ts'
import { jsonBody } from '../body/json.ts'
import { callerBySecret } from '../caller/caller.ts'
import { trustedCallerOf } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { noteStored } from '../console/audited-by.ts'
import { methodNotAllowed } from '../problem.ts'
import { checkNames, clientGone, isOfType, onlyValue, queryPairs } from '../request.ts'
import type { Receive, RespondStored } from './receive.ts'
import { readRemoteUpload } from './url-upload.ts'

interface Dependencies {
  clients: Clients
  upload: Upload
  remoteUpload: RemoteUpload
  eager: Pick<EagerTransforms, 'check'>
  limits: Limits
  receive: Receive
  respondStored: RespondStored
  /** Maximum number of files per request. */
  maxFiles: number
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

// Enough for a URL of 2000 characters, twenty query strings of the
// same length and the JSON around them, each character escaped.
const REMOTE_MAX_BYTES = 256 * 1024

/**
 * `POST /v1/upload?path=<folder>`: stores the parts named `file`, all or none, and returns their records. The field
 * `info` adds file information, `transforms` renders derivatives in the background, `tags` and `metadata` are stored
 * with each file.
 * `POST /v1/upload/url` with the JSON body `{"url": …}`: stores a file of another server. `POST /v1/upload` does the same with such
 * a body, as it did before there was a route for this.
 * `PUT /v1/upload/<name>?path=<folder>`: stores the body as one file, and returns its record in the same format.
 */
export function uploadRoutes({
  clients,
  upload,
  remoteUpload,
  eager,
  limits,
  receive,
  respondStored,
  maxFiles,
  minBytesPerSecond,
}: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const callerOf = (req: Request) => {
    const grant = callerBySecret(req, clients, 'upload')
    return { grant, client: grant.client, folder: folderWithin(pathOf(req), grant) }
  }

  async function storeRemote(req: Request, res: Response): Promise<void> {
    const grant = callerBySecret(req, clients, 'upload')
    const { client } = grant
    await consumeRateLimit(req, res, { limits, limited: 'upload', client })
    const body = await jsonBody(req, { maxBytes: REMOTE_MAX_BYTES, minBytesPerSecond })
    const { url, name, path, requested } = readRemoteUpload(body, pathOf(req))
    const folder = folderWithin(path, grant)
    await consumeRateLimit(req, res, { limits, limited: 'fetch', client })
    const signal = clientGone(res)
    const check = (format: Format) => eager.check(grant, format, requested.transforms ?? [])
    const annotations = () => requested.annotations
    const stored = await remoteUpload({
      client,
      asker: 'secret',
      url,
      name,
      folder,
      check,
      annotations,
      signal,
    })
    noteStored(req, [stored])
    await respondStored(res, { grant, caller: trustedCallerOf(req), stored: [stored], requested, signal })
  }

  routes.post('/v1/upload', async (req, res) => {
    if (isOfType(req, 'application/json')) return storeRemote(req, res)
    const { grant, client, folder } = callerOf(req)
    await consumeRateLimit(req, res, { limits, limited: 'upload', client })
    await receive(req, res, {
      grant,
      caller: trustedCallerOf(req),
      as: 'form',
      maxFiles,
      store: (arriving) => upload({ client, folder, ...arriving }),
    })
  })
  routes.all('/v1/upload', methodNotAllowed('POST'))

  routes.post('/v1/upload/url', storeRemote)

  routes.put('/v1/upload/:name', async (req, res) => {
    const { grant, client, folder } = callerOf(req)
    await consumeRateLimit(req, res, { limits, limited: 'upload', client })
    await receive(req, res, {
      grant,
      caller: trustedCallerOf(req),
      as: 'file',
      name: String(req.params.name),
      maxFiles: 1,
      store: (arriving) => upload({ client, folder, ...arriving }),
    })
  })
  routes.all('/v1/upload/:name', unlessDelete(methodNotAllowed('PUT', 'DELETE')))
  routes.all('/v1/upload/*path', unlessDelete(methodNotAllowed('DELETE')))
  return routes
}

function pathOf(req: Request): string | undefined {
  const query = queryPairs(req)
  checkNames(query, ['path'])
  return onlyValue(query, 'path')
}

/** The delete of a file has the same paths: http/files/delete.ts. */
function unlessDelete(refuse: RequestHandler): RequestHandler {
  return (req, res, next) => (req.method === 'DELETE' ? next() : refuse(req, res, next))
}
