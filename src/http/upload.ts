import { Router } from 'express'
import type { Format } from '../core/media.ts'
import type { Limits } from '../core/ports/rate-limiter.ts'
import { badParameter } from '../core/problem.ts'
import { folderWithin } from '../core/scope.ts'
import type { Clients } from '../service/clients.ts'
import type { EagerTransform, EagerTransforms } from '../service/eager.ts'
import type { Informations } from '../service/information.ts'
import type { RemoteUpload } from '../service/remote-upload.ts'
import type { Upload } from '../service/upload.ts'
import { callerBySecret } from './caller.ts'
import { jsonBody } from './json-body.ts'
import { fileParts } from './multipart.ts'
import { methodNotAllowed } from './problem.ts'
import { takePoints } from './rate-limit.ts'
import { readRemoteUpload } from './remote-upload.ts'
import { clientGone, isOfType, onlyValue, queryPairs } from './request.ts'
import { uploadFields } from './upload-fields.ts'
import { optionsToWire, uploadToWire } from './upload-record.ts'

interface Dependencies {
  clients: Clients
  upload: Upload
  remoteUpload: RemoteUpload
  limits: Limits
  informations: Informations
  eager: EagerTransforms
  baseUrl: string
  /** Of one request. */
  maxFiles: number
  /** Of a body, see {@link watchRate}. */
  minBytesPerSecond: number
}

// A URL of 2000 characters, twenty query strings as long, and what is around them, each character escaped.
const REMOTE_MAX_BYTES = 256 * 1024

/**
 * `POST /v1/upload?path=<folder>`: stores the parts named `file`, all or none, and answers their records. With the field
 * `info` they tell what is known of each, with `transforms` what is made of it in the background. With JSON as its body,
 * `{"url": …}`, it stores a file of another server.
 */
export function uploadRoutes({
  clients,
  upload,
  remoteUpload,
  limits,
  informations,
  eager,
  baseUrl,
  maxFiles,
  minBytesPerSecond,
}: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes.post('/v1/upload', async (req, res) => {
    const grant = callerBySecret(req, clients, 'upload')
    const { client } = grant
    const path = onlyPath(queryPairs(req))
    const folder = folderWithin(path, grant)
    await takePoints(req, res, { limits, limited: 'upload', client })
    const signal = clientGone(res)
    const check = (transforms: readonly string[] | undefined) => (format: Format) =>
      eager.check(client, format, transforms ?? [])

    async function storeForm() {
      const fields = uploadFields()
      const files = fileParts(req, { maxFiles, minBytesPerSecond, onField: fields.take, signal })
      const checkEach = (format: Format) => check(fields.asked().transforms)(format)
      const stored = await upload({ client, folder, files, check: checkEach, signal })
      return { stored, asked: fields.asked() }
    }

    async function storeRemote() {
      const body = await jsonBody(req, { maxBytes: REMOTE_MAX_BYTES, minBytesPerSecond })
      const { asked, ...wanted } = readRemoteUpload(body, path)
      const within = { ...wanted, folder: folderWithin(wanted.folder, grant) }
      await takePoints(req, res, { limits, limited: 'fetch', client })
      const request = { ...within, client, asker: 'secret', check: check(asked.transforms), signal } as const
      return { stored: [await remoteUpload(request)], asked }
    }

    const { stored, asked } = await (isOfType(req, 'application/json') ? storeRemote() : storeForm())
    const { info, transforms } = asked
    const begun: EagerTransform[][] = []
    if (transforms) for (const { name } of stored) begun.push(await eager.begin(client, name, transforms))
    const known = info ? await informations.ofStored(client, stored, signal) : []
    const place = { client, baseUrl }
    res.setHeader('Cache-Control', 'no-store')
    res.json(
      stored.map((file, i) =>
        uploadToWire(file, {
          ...place,
          options: optionsToWire(file, { ...place, info: known[i], transforms: begun[i] }),
        }),
      ),
    )
  })
  routes.all('/v1/upload', methodNotAllowed('POST'))
  return routes
}

function onlyPath(query: ReadonlyArray<readonly [string, string]>): string | undefined {
  for (const [name, value] of query)
    if (name !== 'path')
      throw badParameter({ param: name, expected: 'only path in the query, and nothing', received: value })
  return onlyValue(query, 'path')
}
