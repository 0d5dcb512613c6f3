import type { IncomingMessage } from 'node:http'
import { Router } from 'express'
import { methodNotAllowed } from '../problem.ts'
import type { Readiness } from '../wire/system.ts'

const PATHS = ['/healthz', '/readyz']

/** The checks of the service's dependencies. Checks without a result throw on failure. */
export interface ReadinessChecks {
  /** The version of Sluice. */
  version: string
  /** Without the bucket, no request can be served. */
  bucket(): Promise<void>
  /** Without the index, stored files are still delivered. */
  index(): Promise<void>
  /** Whether ffmpeg is missing. Without it, everything but media transformations works. */
  ffmpeg(): Promise<boolean>
  /** The comparison of the index with all files, while it is needed. Until it has ended, lists may be incomplete or a 503. */
  comparison?(): { files: number } | undefined
  /** The scripts that no font of the machine has; undefined until that is known. */
  scriptsWithoutFont(): readonly string[] | undefined
  /** Whether the process is shutting down: it still serves requests, but should get no new ones. */
  isStopping(): boolean
  /** The state of the disk. Absent when nothing is stored on one. Files are delivered in every state. */
  disk?(): Promise<'ok' | 'full' | 'read_only'>
}

/**
 * `GET /healthz`: 200 while the process lives. `GET /readyz`: 200 when it can serve requests, or at least stored files
 * (`degraded`); else 503, also during the shutdown (`stopping`). The body has the result of each check.
 */
export function healthRoutes(checks: ReadinessChecks): Router {
  const routes = Router()
  routes.get('/healthz', (_req, res) => {
    res.setHeader('Cache-Control', 'no-store')
    res.json({ status: 'ok' })
  })
  routes.get('/readyz', async (_req, res) => {
    const readiness = await readinessOf(checks)
    const ready = ['ok', 'degraded'].includes(readiness.status)
    res.setHeader('Cache-Control', 'no-store')
    if (!ready) res.setHeader('Retry-After', '5')
    res.status(ready ? 200 : 503).json(readiness)
  })
  for (const path of PATHS) routes.all(path, methodNotAllowed('GET', 'HEAD'))
  return routes
}

/** Runs all checks at the same time. */
export async function readinessOf(checks: ReadinessChecks): Promise<Readiness> {
  const [bucket, index, isMissing, disk] = await Promise.all([
    outcome(checks.bucket()),
    outcome(checks.index()),
    checks.ffmpeg(),
    checks.disk?.().catch(() => 'unavailable' as const),
  ])
  const isDegraded = index !== 'ok' || (disk ?? 'ok') !== 'ok'
  const status = bucket === 'ok' && isDegraded ? 'degraded' : bucket
  const comparison = checks.comparison?.()
  const lacking = checks.scriptsWithoutFont()
  return {
    status: checks.isStopping() ? 'stopping' : status,
    version: checks.version,
    checks: {
      bucket,
      index,
      ffmpeg: isMissing ? 'missing' : 'ok',
      ...(disk ? { disk } : {}),
      ...(lacking ? { fonts: lacking.length > 0 ? 'missing' : 'ok' } : {}),
    },
    ...(comparison ? { comparison } : {}),
    ...(lacking?.length ? { scriptsWithoutFont: [...lacking] } : {}),
  }
}

/** Whether the URL of a request, as a path, is one of {@link healthRoutes}. */
export function isHealthCheck({ url = '' }: IncomingMessage): boolean {
  return PATHS.some((path) => url === path || url.startsWith(`${path}?`))
}

/** The result of a check that throws on failure. */
export async function outcome(check: Promise<void>): Promise<'ok' | 'unavailable'> {
  return check.then(
    () => 'ok',
    () => 'unavailable',
  )
}
