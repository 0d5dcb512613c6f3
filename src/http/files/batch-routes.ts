import { Router } from 'express'
import { Problem } from '../../core/problem.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { ManyFiles, Outcome } from '../../service/files/batch.ts'
import { jsonBody } from '../body/json.ts'
import { callerBySecret } from '../caller/caller.ts'
import { noteOutcomes } from '../console/audited-by.ts'
import { methodNotAllowed } from '../problem.ts'
import { clientGone } from '../request.ts'
import type { DeletionReport, RestorationReport } from '../wire/outcomes.ts'
import { readDeletion, readRestoration } from './batch-request.ts'

interface Dependencies {
  clients: Clients
  many: ManyFiles
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

// Enough for a thousand of the longest paths, with four bytes per character, escaped.
const BODY_MAX_BYTES = 4 * 1024 * 1024

/**
 * `POST /v1/files/delete`: deletes files by their paths, or all files of a folder. `POST /v1/files/restore`: restores
 * deleted files. Both return the outcome for each file.
 */
export function filesManyRoutes({ clients, many, minBytesPerSecond }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const limits = { maxBytes: BODY_MAX_BYTES, minBytesPerSecond }

  routes.post('/v1/files/delete', async (req, res) => {
    const grant = callerBySecret(req, clients, 'manage')
    const requested = readDeletion(await jsonBody(req, limits), grant)
    const common = { client: grant.client, isPermanent: requested.isPermanent, signal: clientGone(res) }
    const { outcomes, more } = requested.paths
      ? { outcomes: await many.remove({ ...common, paths: requested.paths }), more: false }
      : requested.folder === undefined
        ? { outcomes: [], more: false }
        : await many.removeFolder({ ...common, folder: requested.folder, limit: requested.limit })
    noteOutcomes(req, outcomes)
    const results = outcomes.map((outcome) =>
      toWire(outcome, ({ until }) => ({
        status: 'deleted' as const,
        ...(until === undefined ? {} : { deletedUntil: new Date(until).toISOString() }),
      })),
    )
    res.setHeader('Cache-Control', 'no-store')
    const report: DeletionReport = { results, more }
    res.json(report)
  })

  routes.post('/v1/files/restore', async (req, res) => {
    const grant = callerBySecret(req, clients, 'manage')
    const paths = readRestoration(await jsonBody(req, limits), grant)
    const outcomes = await many.restore({ client: grant.client, paths, signal: clientGone(res) })
    res.setHeader('Cache-Control', 'no-store')
    noteOutcomes(req, outcomes)
    const restored = () => ({ status: 'restored' as const })
    const report: RestorationReport = { results: outcomes.map((outcome) => toWire(outcome, restored)) }
    res.json(report)
  })

  for (const path of ['/v1/files/delete', '/v1/files/restore']) routes.all(path, methodNotAllowed('POST'))
  return routes
}

/** The outcome for one file in a report. */
export function toWire<T, W extends object>({ path, done }: Outcome<T>, well: (done: T) => W) {
  if (done instanceof Problem)
    return { path, status: 'error' as const, code: done.code, detail: done.message }
  return { path, ...well(done) }
}
