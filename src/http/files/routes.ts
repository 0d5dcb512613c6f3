import { Router } from 'express'
import { sha256 } from '../../core/bytes/digest.ts'
import { candidatesInFolder, type Grant } from '../../core/clients/grant.ts'
import { commonFolder } from '../../core/clients/secret-scope.ts'
import { parsePath } from '../../core/files/request-path.ts'
import type { IndexedFile, OriginalRecord } from '../../core/ports/file-index.ts'
import { Problem } from '../../core/problem.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { createSignSrc } from '../../service/clients/signed-src.ts'
import type { Annotate } from '../../service/files/annotate.ts'
import type { CountFiles } from '../../service/files/count.ts'
import type { Describe, DescribedFile } from '../../service/files/describe.ts'
import type { List } from '../../service/files/list.ts'
import { jsonBody } from '../body/json.ts'
import { callerBySecret } from '../caller/caller.ts'
import { ifMatchHolds } from '../delivery/conditional.ts'
import { methodNotAllowed } from '../problem.ts'
import { clientGone, queryPairs, wildcardPath } from '../request.ts'
import type { Place } from '../wire/file.ts'
import { fileToWire } from '../wire/file-details.ts'
import type { Derivative, FileList, FileWithDerivatives } from '../wire/record.ts'
import { derivativeUrl } from '../wire/urls.ts'
import { cursorOf, positionOf } from './cursor.ts'
import { readListQuery } from './list-query.ts'
import { readFileChange } from './merge-patch.ts'

interface Dependencies {
  clients: Clients
  list: List
  count: CountFiles
  describe: Describe
  annotate: Annotate
  /** 32 bytes, the key that seals cursors. */
  cursorKey: Buffer
  baseUrl: string
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

// Enough for the longest annotations of a file, with each character escaped.
const CHANGE_MAX_BYTES = 256 * 1024

/**
 * `GET /v1/files`: lists a client's originals, page by page.
 * `GET /v1/files/<path>`: one original, with its derivatives. `PATCH` changes its name and annotations.
 */
export function filesRoutes({
  clients,
  list,
  count,
  describe,
  annotate,
  cursorKey,
  baseUrl,
  minBytesPerSecond,
}: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const placeOf = (grant: Grant): Place => ({
    client: grant.client,
    baseUrl,
    sign: createSignSrc(clients.urlKeys, grant),
  })

  routes.get('/v1/files', async (req, res) => {
    const grant = callerBySecret(req, clients, 'read')
    const { client } = grant
    const { sort, cursor, isCounted, ...requested } = readListQuery(queryPairs(req))
    const place = { ...grant, sort, key: cursorKey }
    const after = cursor === undefined ? undefined : positionOf(cursor, place)
    const common = commonFolder(requested.folder, grant.folder ?? '')
    // A secret for a subfolder sees no file of the folder itself.
    const folder = requested.isDirect && common !== requested.folder ? undefined : common
    const signal = clientGone(res)
    const { files, next } =
      folder === undefined
        ? { files: [], next: undefined }
        : await list({ ...requested, client, folder, after, signal })
    const { state, isDirect } = requested
    const total = isCounted ? await count({ client, state, isDirect, folder, signal }) : undefined
    res.setHeader('Cache-Control', 'no-store')
    const page: FileList = {
      files: files.map((file) => fileToWire(file, placeOf(grant))),
      cursor: next === undefined ? null : cursorOf(next, place),
      ...(total === undefined ? {} : { total }),
    }
    res.json(page)
  })
  routes.all('/v1/files', methodNotAllowed('GET', 'HEAD'))

  routes.get('/v1/files/*path', async (req, res) => {
    const grant = callerBySecret(req, clients, 'read')
    const { client } = grant
    const file = await describe({ client, path: candidatesInFolder(parsePath(wildcardPath(req)), grant) })
    res.setHeader('Cache-Control', 'no-store')
    res.setHeader('ETag', etagOf(file.record))
    res.json(describedToWire(file, placeOf(grant)))
  })
  routes.patch('/v1/files/*path', async (req, res) => {
    const grant = callerBySecret(req, clients, 'manage')
    const { client } = grant
    const path = candidatesInFolder(parsePath(wildcardPath(req)), grant)
    const mediaTypes = ['application/merge-patch+json', 'application/json']
    const body = await jsonBody(req, { maxBytes: CHANGE_MAX_BYTES, minBytesPerSecond, mediaTypes })
    const changed = readFileChange(body)
    const change = (record: OriginalRecord) => {
      if (!ifMatchHolds(req, etagOf(record))) throw otherVersion()
      return changed(record)
    }
    const { record } = await annotate({ client, path, change, signal: clientGone(res) })
    const file = await describe({ client, path })
    res.setHeader('Cache-Control', 'no-store')
    res.setHeader('ETag', etagOf(record))
    res.json(describedToWire({ ...file, record }, placeOf(grant)))
  })
  routes.all('/v1/files/*path', methodNotAllowed('GET', 'HEAD', 'PATCH'))
  return routes
}

/** The ETag of the members that a PATCH may change. */
function etagOf({ originalName, tags = [], metadata = {}, focalPoint }: OriginalRecord): string {
  const members = [
    originalName,
    tags,
    Object.entries(metadata).sort(([one], [other]) => (one < other ? -1 : 1)),
    ...(focalPoint ? [[focalPoint.x, focalPoint.y]] : []),
  ]
  return `"${sha256(JSON.stringify(members)).slice(0, 32)}"`
}

/** 412: the file was changed since the ETag was issued. */
function otherVersion(): Problem {
  return new Problem({
    status: 412,
    code: 'precondition_failed',
    detail: 'The file was changed since it was read: If-Match is not its current ETag.',
  })
}

function describedToWire(file: DescribedFile, place: Place): FileWithDerivatives {
  return {
    ...fileToWire(file, place),
    derivatives: file.derivatives.map((one) => derivativeToWire(one, file, place)),
  }
}

function derivativeToWire(
  { key, entry }: IndexedFile['derivatives'][number],
  { name }: DescribedFile,
  { client, baseUrl, sign }: Place,
): Derivative {
  const { mediaType = null, size = null } = entry.state === 'stored' ? entry.record : {}
  const url = derivativeUrl(key, { baseUrl, token: client.token, group: name.format.group })
  const { src } = sign(url, key)
  return { key, src, mediaType, size, state: entry.state }
}
