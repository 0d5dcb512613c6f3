import { type Request, type Response, Router } from 'express'
import type { Grant } from '../../core/clients/grant.ts'
import { Problem } from '../../core/problem.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { createSignSrc } from '../../service/clients/signed-src.ts'
import { type Outcome, outcomesOf } from '../../service/files/batch.ts'
import type { Copies, CopyRequest } from '../../service/moves/copies.ts'
import { jsonBody } from '../body/json.ts'
import { callerBySecret } from '../caller/caller.ts'
import { noteOutcomes } from '../console/audited-by.ts'
import { toWire } from '../files/batch-routes.ts'
import { methodNotAllowed } from '../problem.ts'
import { clientGone } from '../request.ts'
import type { CopyReport, MoveReport } from '../wire/copies.ts'
import type { Place } from '../wire/file.ts'
import { fileToWire } from '../wire/file-details.ts'
import { type NamedCopy, readCopying, readMoving } from './request.ts'

interface Dependencies {
  clients: Clients
  copies: Copies
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

// Enough for a hundred pairs of the longest paths, with four bytes per character, escaped.
const BODY_MAX_BYTES = 1024 * 1024
const CONCURRENCY = 4

/**
 * `POST /v1/files/copy`: copies files into a folder. `POST /v1/files/move`: moves them, and may redirect their former URLs. Both
 * return the outcome for each file.
 */
export function copiesRoutes({ clients, copies, baseUrl, minBytesPerSecond }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const limits = { maxBytes: BODY_MAX_BYTES, minBytesPerSecond }

  /** Completed files stay copied when the caller disconnects. */
  async function each<T>(
    req: Request,
    res: Response,
    {
      read,
      work,
    }: {
      read: (body: unknown, grant: Grant) => NamedCopy[]
      work: (request: CopyRequest & Pick<NamedCopy, 'redirectMs'>) => Promise<T>
    },
  ): Promise<{ place: Place; outcomes: Outcome<T>[] }> {
    const grant = callerBySecret(req, clients, 'manage')
    const { client } = grant
    const files = read(await jsonBody(req, limits), grant)
    const signal = clientGone(res)
    const one = async ({ meanings, to, redirectMs }: NamedCopy) => {
      if (meanings instanceof Problem) throw meanings
      if (to instanceof Problem) throw to
      return work({ client, from: meanings, to, redirectMs, signal })
    }
    const outcomes = await outcomesOf(files, { concurrency: CONCURRENCY, signal, work: one })
    noteOutcomes(req, outcomes)
    res.setHeader('Cache-Control', 'no-store')
    return { place: { client, baseUrl, sign: createSignSrc(clients.urlKeys, grant) }, outcomes }
  }

  routes.post('/v1/files/copy', async (req, res) => {
    const work = (request: CopyRequest) => copies.copy(request)
    const { place, outcomes } = await each(req, res, { read: readCopying, work })
    const results = outcomes.map((outcome) =>
      toWire(outcome, (file) => ({
        status: 'copied' as const,
        file: fileToWire(file, place),
      })),
    )
    const report: CopyReport = { results }
    res.json(report)
  })

  routes.post('/v1/files/move', async (req, res) => {
    const work = (request: CopyRequest & Pick<NamedCopy, 'redirectMs'>) => copies.move(request)
    const { place, outcomes } = await each(req, res, { read: readMoving, work })
    const results = outcomes.map((outcome) =>
      toWire(outcome, ({ redirectUntil, ...file }) => ({
        status: 'moved' as const,
        file: fileToWire(file, place),
        ...(redirectUntil === undefined ? {} : { redirectUntil: new Date(redirectUntil).toISOString() }),
      })),
    )
    const report: MoveReport = { results }
    res.json(report)
  })

  for (const path of ['/v1/files/copy', '/v1/files/move']) routes.all(path, methodNotAllowed('POST'))
  return routes
}
