import { Router } from 'express'
import type { Client } from '../core/client.ts'
import { badParameter } from '../core/problem.ts'
import type { Clients } from '../service/clients.ts'
import type { Upload, UploadedFile } from '../service/upload.ts'
import { callerBySecret } from './caller.ts'
import { fileParts } from './multipart.ts'
import { methodNotAllowed } from './problem.ts'
import { clientGone, onlyValue, queryPairs } from './request.ts'
import { deliveryUrl } from './urls.ts'

interface Dependencies {
  clients: Clients
  upload: Upload
  baseUrl: string
  /** Of one request. */
  maxFiles: number
  /** Of a body, see {@link watchRate}. */
  minBytesPerSecond: number
}

/** `POST /v1/upload?path=<folder>`: stores the parts named `file`, all or none, and answers their records. */
export function uploadRoutes({
  clients,
  upload,
  baseUrl,
  maxFiles,
  minBytesPerSecond,
}: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes.post('/v1/upload', async (req, res) => {
    const client = callerBySecret(req, clients)
    const folder = onlyPath(queryPairs(req))
    const signal = clientGone(res)
    const files = fileParts(req, { maxFiles, minBytesPerSecond, signal })
    const stored = await upload({ client, folder, files, signal })
    res.setHeader('Cache-Control', 'no-store')
    res.json(stored.map((file) => toWire(file, { client, baseUrl })))
  })
  routes.all('/v1/upload', methodNotAllowed('POST'))
  return routes
}

/** The ten fields of an upload's record, as the README has them: these and no other. */
function toWire(
  { name, record, bucketUrl }: UploadedFile,
  { client, baseUrl }: { client: Client; baseUrl: string },
) {
  const { key, sourceName, format } = name
  return {
    sourceName,
    src: deliveryUrl(name, { baseUrl, token: client.token }),
    originalSrc: bucketUrl,
    originalName: record.originalName,
    s3PathOriginal: key,
    s3Path: key,
    options: {},
    size: record.size,
    mimeType: format.group,
    format: format.name,
  }
}

function onlyPath(query: ReadonlyArray<readonly [string, string]>): string | undefined {
  for (const [name, value] of query)
    if (name !== 'path')
      throw badParameter({ param: name, expected: 'only path in the query, and nothing', received: value })
  return onlyValue(query, 'path')
}
