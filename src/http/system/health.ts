import type { IncomingMessage } from 'node:http'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { health, type Readiness, readiness } from '../wire/system.ts'

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
  comparison?(): { files: number; total?: number } | undefined
  /** The scripts that no font of the machine has; undefined until that is known. */
  scriptsWithoutFont(): readonly string[] | undefined
  /** Whether the process is shutting down: it still serves requests, but should get no new ones. */
  isStopping(): boolean
  /** The state of the disk. Absent when nothing is stored on one. Files are delivered in every state. */
  disk?(): Promise<'ok' | 'full' | 'read_only'>
}

const getHealth = endpoint({
  route: 'GET /healthz',
  id: 'getHealth',
  tag: 'Service',
  summary: 'Whether the process runs',
  access: 'public',
  responses: { 200: json(health, 'The process runs.') },
  examples: [{ id: 'ok', summary: 'The process runs', status: 200, response: { status: 'ok' } }],

  handle: () => ({ json: { status: 'ok' } }),
})

const getReadiness = endpoint({
  route: 'GET /readyz',
  id: 'getReadiness',
  tag: 'Service',
  summary: 'Whether the service can serve requests',
  access: 'public',
  responses: {
    200: json(readiness, 'The service can serve requests.'),
    503: json(readiness, 'The service cannot serve requests, or is shutting down.', ['Retry-After']),
  },
  examples: [
    {
      id: 'ready',
      summary: 'All checks have passed',
      status: 200,
      response: {
        status: 'ok',
        version: '1.0.0',
        checks: { bucket: 'ok', index: 'ok', ffmpeg: 'ok', disk: 'ok', fonts: 'ok' },
      },
    },
  ],

  async handle({ checks }: { checks: ReadinessChecks }, { res }) {
    const found = await readinessOf(checks)
    if (['ok', 'degraded'].includes(found.status)) return { json: found }
    res.setHeader('Retry-After', '5')
    return { status: 503, json: found }
  },
})

/** Whether the process runs, and whether it can serve requests, or at least stored files. */
export const HEALTH = [getHealth, getReadiness]

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

/** Whether a request is for one of the paths of {@link HEALTH}. */
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
