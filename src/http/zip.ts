import { pipeline } from 'node:stream/promises'
import { json, Router } from 'express'
import type { RateLimiter } from '../core/ports/rate-limiter.ts'
import { unsupportedMediaType } from '../core/problem.ts'
import type { Archive } from '../service/archive.ts'
import type { Clients } from '../service/clients.ts'
import { drainAfterAnswer } from './drain.ts'
import { methodNotAllowed } from './problem.ts'
import { takePoint } from './rate-limit.ts'
import { clientGone } from './request.ts'
import { readZipRequest, withoutProto } from './zip-request.ts'

interface Dependencies {
  clients: Clients
  archive: Archive
  limiter: RateLimiter
}

// 100 items with the longest paths, names and parameters.
const BODY_MAX_BYTES = 1024 * 1024

/** `POST /v1/zip`: several files in one archive, each as its own delivery URL would give it. */
export function zipRoutes({ clients, archive, limiter }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const readJson = json({ limit: BODY_MAX_BYTES, strict: true, reviver: withoutProto })
  routes.post('/v1/zip', drainAfterAnswer, async (req, res) => {
    const client = clients.authenticate(req.headers.authorization)
    await takePoint(res, limiter, { policy: 'zip', key: client.id })
    if (!req.is('application/json')) {
      throw unsupportedMediaType({ expected: 'application/json', received: req.headers['content-type'] })
    }
    // After the token and the limit: nobody else has a body read.
    await new Promise<void>((resolve, reject) =>
      readJson(req, res, (error) => (error ? reject(error) : resolve())),
    )
    const { items, archiveName } = readZipRequest(req.body)
    const signal = clientGone(res)
    res.attachment(archiveName)
    res.setHeader('Content-Type', 'application/zip')
    res.setHeader('Cache-Control', 'no-store')
    res.setHeader('X-Content-Type-Options', 'nosniff')
    await pipeline(archive({ client, archiveName, items, signal }), res).catch((error) => {
      if (!signal.aborted) throw error
    })
  })
  routes.all('/v1/zip', methodNotAllowed('POST'))
  return routes
}
