import { randomUUID } from 'node:crypto'
import type { RequestHandler } from 'express'
import type { Log } from '../core/log.ts'

/**
 * Gives every request an id, in `X-Request-Id`, and logs its end. Paths are logged without their query, headers not at
 * all, and a secret that stands in a path by mistake is known by its prefix: none ever reaches a line.
 */
export function requestLog(log: Log): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now()
    const id = randomUUID()
    res.setHeader('X-Request-Id', id)
    res.once('close', () => {
      const fields = {
        requestId: id,
        method: req.method,
        path: req.path.replace(/sec_\w+/g, 'sec_…'),
        status: res.statusCode,
        ms: Math.round(performance.now() - startedAt),
        complete: res.writableFinished,
      }
      log.info(fields, 'request')
    })
    next()
  }
}
