import { Router } from 'express'
import { parsePath } from '../core/object-key.ts'
import type { IndexedFile } from '../core/ports/file-index.ts'
import { commonFolder, meaningsWithin } from '../core/scope.ts'
import type { Clients } from '../service/clients.ts'
import type { Describe, DescribedFile } from '../service/describe.ts'
import type { List } from '../service/list.ts'
import { callerBySecret } from './caller.ts'
import { fileToWire, type Place } from './file-record.ts'
import { cursorOf, readListQuery } from './files-query.ts'
import { methodNotAllowed } from './problem.ts'
import { clientGone, queryPairs, wildcardPath } from './request.ts'
import { derivativeUrl } from './urls.ts'

interface Dependencies {
  clients: Clients
  list: List
  describe: Describe
  baseUrl: string
}

/**
 * `GET /v1/files`: a client's originals, page by page.
 * `GET /v1/files/<path>`: one of them, with what was made of it.
 */
export function filesRoutes({ clients, list, describe, baseUrl }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })

  routes.get('/v1/files', async (req, res) => {
    const { client, folder: own = '' } = callerBySecret(req, clients, 'read')
    const { sort, ...asked } = readListQuery(queryPairs(req))
    const folder = commonFolder(asked.folder, own)
    const signal = clientGone(res)
    const { files, next } =
      folder === undefined ? { files: [], next: undefined } : await list({ ...asked, client, folder, signal })
    res.setHeader('Cache-Control', 'no-store')
    res.json({
      files: files.map((file) => fileToWire(file, { client, baseUrl })),
      cursor: next === undefined ? null : cursorOf(next, sort),
    })
  })
  routes.all('/v1/files', methodNotAllowed('GET', 'HEAD'))

  routes.get('/v1/files/*path', async (req, res) => {
    const grant = callerBySecret(req, clients, 'read')
    const { client } = grant
    const file = await describe({ client, path: meaningsWithin(parsePath(wildcardPath(req)), grant) })
    res.setHeader('Cache-Control', 'no-store')
    res.json(describedToWire(file, { client, baseUrl }))
  })
  routes.all('/v1/files/*path', methodNotAllowed('GET', 'HEAD'))
  return routes
}

function describedToWire(file: DescribedFile, place: Place) {
  return {
    ...fileToWire(file, place),
    derivatives: file.derivatives.map((one) => derivativeToWire(one, file, place)),
  }
}

function derivativeToWire(
  { key, entry }: IndexedFile['derivatives'][number],
  { name }: DescribedFile,
  { client, baseUrl }: Place,
) {
  const { mediaType = null, size = null } = entry.state === 'stored' ? entry.record : {}
  const src = derivativeUrl(key, { baseUrl, token: client.token, group: name.format.group })
  return { key, src, mediaType, size, state: entry.state }
}
