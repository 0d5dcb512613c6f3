import { Router } from 'express'
import type { Client } from '../core/client.ts'
import type { Format } from '../core/media.ts'
import { badParameter } from '../core/problem.ts'
import type { Clients } from '../service/clients.ts'
import type { EagerTransform, EagerTransforms } from '../service/eager.ts'
import type { Information, Informations } from '../service/information.ts'
import type { Upload, UploadedFile } from '../service/upload.ts'
import { callerBySecret } from './caller.ts'
import { informationToWire } from './info.ts'
import { fileParts } from './multipart.ts'
import { methodNotAllowed } from './problem.ts'
import { clientGone, onlyValue, queryPairs } from './request.ts'
import { uploadFields } from './upload-fields.ts'
import { deliveryUrl } from './urls.ts'

interface Dependencies {
  clients: Clients
  upload: Upload
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
  informations,
  eager,
  baseUrl,
  maxFiles,
  minBytesPerSecond,
}: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes.post('/v1/upload', async (req, res) => {
    const client = callerBySecret(req, clients)
    const folder = onlyPath(queryPairs(req))
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

/** The ten fields of an upload's record, as the README has them: these and no other. */
export function uploadToWire(
  { name, record, bucketUrl }: UploadedFile,
  { client, baseUrl, options = {} }: { client: Client; baseUrl: string; options?: object },
) {
  const { key, sourceName, format } = name
  return {
    sourceName,
    src: deliveryUrl(name, { baseUrl, token: client.token }),
    originalSrc: bucketUrl,
    originalName: record.originalName,
    s3PathOriginal: key,
    s3Path: key,
    options,
    size: record.size,
    mimeType: format.group,
    format: format.name,
  }
}

/** What the form has asked for; empty when that is nothing. */
function optionsToWire(
  { name }: UploadedFile,
  {
    client,
    baseUrl,
    info,
    transforms,
  }: {
    client: Client
    baseUrl: string
    info: Information | undefined
    transforms: readonly EagerTransform[] | undefined
  },
): object {
  const src = deliveryUrl(name, { baseUrl, token: client.token })
  const list = transforms?.map(({ query, key, state }) => ({ key, src: `${src}?${inUrl(query)}`, state }))
  return {
    ...(info ? { info: informationToWire(info, { withLocation: false }) } : {}),
    ...(list ? { transforms: list } : {}),
  }
}

/** A query as it stands in a URL, whatever was asked for; commas and colons, of ratios and boxes, are fit to be seen. */
function inUrl(query: string): string {
  return String(new URLSearchParams(query)).replaceAll('%2C', ',').replaceAll('%3A', ':')
}

function onlyPath(query: ReadonlyArray<readonly [string, string]>): string | undefined {
  for (const [name, value] of query)
    if (name !== 'path')
      throw badParameter({ param: name, expected: 'only path in the query, and nothing', received: value })
  return onlyValue(query, 'path')
}
