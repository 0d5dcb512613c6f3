import type { IncomingMessage } from 'node:http'
import { Router } from 'express'
import { methodNotAllowed } from '../problem.ts'

const PATHS = ['/healthz', '/readyz']

/** What requests stand on, each a check that throws when it does not work. */
export interface ReadinessChecks {
  /** The version of Sluice. */
  version: string
  /** Without it nothing can be served. */
  bucket(): Promise<void>
  /** Without it, what is stored is still delivered. */
  index(): Promise<void>
  /** Whether it is not installed, without which all but videos is served. */
  ffmpeg(): Promise<boolean>
  /** Whether the process is about to end: it still serves requests, but should get no new ones. */
  isStopping(): boolean
  /** The state of the disk. Absent when nothing is stored on one. Files are delivered in each state. */
  disk?(): Promise<'ok' | 'full' | 'read_only'>
}

/**
 * `GET /healthz`: 200 while the process lives. `GET /readyz`: 200 when it can serve, at least what is stored
 * (`degraded`), else 503, also when the process is about to end (`stopping`); with each check.
 */
export function healthRoutes(checks: ReadinessChecks): Router {
  const routes = Router()
  routes.get('/healthz', (_req, res) => {
    res.setHeader('Cache-Control', 'no-store')
    res.json({ status: 'ok' })
  })
  routes.get('/readyz', async (_req, res) => {
    const [bucket, index, isMissing, disk] = await Promise.all([
      outcome(checks.bucket()),
      outcome(checks.index()),
      checks.ffmpeg(),
      checks.disk?.().catch(() => 'unavailable' as const),
    ])
    const ffmpeg = isMissing ? 'missing' : 'ok'
    const isStopping = checks.isStopping()
    const ready = bucket === 'ok' && !isStopping
    const isDegraded = index !== 'ok' || (disk ?? 'ok') !== 'ok'
    const status = isStopping ? 'stopping' : ready && isDegraded ? 'degraded' : bucket
    res.setHeader('Cache-Control', 'no-store')
    if (!ready) res.setHeader('Retry-After', '5')
    res
      .status(ready ? 200 : 503)
      .json({ status, version: checks.version, checks: { bucket, index, ffmpeg, ...(disk ? { disk } : {}) } })
  })
  for (const path of PATHS) routes.all(path, methodNotAllowed('GET', 'HEAD'))
  return routes
}

/** Whether a request, whose URL is a path, is for one of {@link healthRoutes}. */
export function isHealthCheck({ url = '' }: IncomingMessage): boolean {
  return PATHS.some((path) => url === path || url.startsWith(`${path}?`))
}

async function outcome(check: Promise<void>): Promise<'ok' | 'unavailable'> {
  return check.then(
    () => 'ok',
    () => 'unavailable',
  )
}
