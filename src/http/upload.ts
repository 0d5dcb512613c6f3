import { Router } from 'express'
import type { Format } from '../core/media.ts'
import type { Limits } from '../core/ports/rate-limiter.ts'
import { badParameter } from '../core/problem.ts'
import { folderWithin } from '../core/scope.ts'
import type { Clients } from '../service/clients.ts'
import type { EagerTransform, EagerTransforms } from '../service/eager.ts'
import type { Informations } from '../service/information.ts'
import type { Upload } from '../service/upload.ts'
import { callerBySecret } from './caller.ts'
import { fileParts } from './multipart.ts'
import { methodNotAllowed } from './problem.ts'
import { takePoints } from './rate-limit.ts'
import { clientGone, onlyValue, queryPairs } from './request.ts'
import { uploadFields } from './upload-fields.ts'
import { optionsToWire, uploadToWire } from './upload-record.ts'

interface Dependencies {
  clients: Clients
  upload: Upload
  limits: Limits
  informations: Informations
  eager: EagerTransforms
  baseUrl: string
  /** Of one request. */
  maxFiles: number
  /** Of a body, see {@link watchRate}. */
  minBytesPerSecond: number
}

/**
 * `POST /v1/upload?path=<folder>`: stores the parts named `file`, all or none, and answers their records. With the field
 * `info` they tell what is known of each, with `transforms` what is made of it in the background.
 */
export function uploadRoutes({
  clients,
  upload,
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
    const folder = folderWithin(onlyPath(queryPairs(req)), grant)
    await takePoints(req, res, { limits, limited: 'upload', client })
    const signal = clientGone(res)
    const fields = uploadFields()
    const files = fileParts(req, { maxFiles, minBytesPerSecond, onField: fields.take, signal })
    const check = (format: Format) => eager.check(client, format, fields.asked().transforms ?? [])
    const stored = await upload({ client, folder, files, check, signal })
    const { info, transforms } = fields.asked()
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
