import { type Request, Router } from 'express'
import type { Limits } from '../core/ports/rate-limiter.ts'
import { badParameter } from '../core/problem.ts'
import { folderWithin } from '../core/scope.ts'
import type { Clients } from '../service/clients.ts'
import type { Upload } from '../service/upload.ts'
import { callerBySecret } from './caller.ts'
import { methodNotAllowed } from './problem.ts'
import { takePoints } from './rate-limit.ts'
import type { Receive } from './receive.ts'
import { onlyValue, queryPairs } from './request.ts'

interface Dependencies {
  clients: Clients
  upload: Upload
  limits: Limits
  receive: Receive
  /** Of one request. */
  maxFiles: number
}

/**
 * `POST /v1/upload?path=<folder>`: stores the parts named `file`, all or none, and answers their records. With the field
 * `info` they tell what is known of each, with `transforms` what is made of it in the background.
 * `PUT /v1/upload/<name>?path=<folder>`: stores the body as it is, and answers its record in the same way.
 */
export function uploadRoutes({ clients, upload, limits, receive, maxFiles }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const callerOf = (req: Request) => {
    const grant = callerBySecret(req, clients, 'upload')
    return { client: grant.client, folder: folderWithin(onlyPath(queryPairs(req)), grant) }
  }

  routes.post('/v1/upload', async (req, res) => {
    const { client, folder } = callerOf(req)
    await takePoints(req, res, { limits, limited: 'upload', client })
    await receive(req, res, {
      ...{ client, as: 'form', maxFiles },
      store: (arriving) => upload({ client, folder, ...arriving }),
    })
  })
  routes.all('/v1/upload', methodNotAllowed('POST'))

  routes.put('/v1/upload/:name', async (req, res) => {
    const { client, folder } = callerOf(req)
    await takePoints(req, res, { limits, limited: 'upload', client })
    await receive(req, res, {
      ...{ client, as: 'file', name: String(req.params.name), maxFiles: 1 },
      store: (arriving) => upload({ client, folder, ...arriving }),
    })
  })
  return routes
}

function onlyPath(query: ReadonlyArray<readonly [string, string]>): string | undefined {
  for (const [name, value] of query)
    if (name !== 'path')
      throw badParameter({ param: name, expected: 'only path in the query, and nothing', received: value })
  return onlyValue(query, 'path')
}
