import { Router } from 'express'
import { folderName } from '../../core/files/folder.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { ListFolders } from '../../service/files/folders.ts'
import { callerBySecret } from '../caller/caller.ts'
import { methodNotAllowed } from '../problem.ts'
import { checkNames, clientGone, onlyValue, pageLimit, queryPairs } from '../request.ts'
import type { FolderList } from '../wire/folders.ts'
import { cursorOf, positionOf } from './cursor.ts'
import { folderIn } from './list-query.ts'

/** `GET /v1/folders?prefix=`: the folders directly below a folder, with the number and the bytes of their files. */
export function foldersRoutes({
  clients,
  listFolders,
  cursorKey,
}: {
  clients: Clients
  listFolders: ListFolders
  /** 32 bytes, the key that seals cursors. */
  cursorKey: Buffer
}): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes.get('/v1/folders', async (req, res) => {
    const grant = callerBySecret(req, clients, 'read')
    const query = queryPairs(req)
    checkNames(query, ['prefix', 'limit', 'cursor'])
    const parent = folderIn(onlyValue(query, 'prefix'))
    const cursor = onlyValue(query, 'cursor')
    const place = { ...grant, sort: `folders in ${parent}`, key: cursorKey }
    const { folders, next } = await listFolders({
      client: grant.client,
      parent,
      scope: grant.folder ?? '',
      after: cursor === undefined ? undefined : positionOf(cursor, place),
      limit: pageLimit(query),
      signal: clientGone(res),
    })
    res.setHeader('Cache-Control', 'no-store')
    const page: FolderList = {
      folders: folders.map(({ folder, ...counts }) => ({
        name: folderName(folder),
        path: folder,
        ...counts,
      })),
      cursor: next === undefined ? null : cursorOf(next, place),
    }
    res.json(page)
  })
  routes.all('/v1/folders', methodNotAllowed('GET', 'HEAD'))
  return routes
}
