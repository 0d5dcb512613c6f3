import { type Request, Router } from 'express'
import type { Client } from '../../core/clients/client.ts'
import { checkEverywhere } from '../../core/clients/grant.ts'
import type { Action } from '../../core/clients/secret-scope.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { ClientJob, ClientJobs } from '../../service/delivery/client-jobs.ts'
import { callerBySecret } from '../caller/caller.ts'
import { methodNotAllowed } from '../problem.ts'
import { queryPairs } from '../request.ts'
import type { JobList, ListedJob } from '../wire/operator/jobs.ts'
import { derivativeUrl } from '../wire/urls.ts'
import { cursorAfter, jobIdOf, keyOfJob, readJobsQuery, SHOWN_STATES } from './request.ts'

interface Dependencies {
  clients: Clients
  clientJobs: ClientJobs
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}

/**
 * `GET /v1/jobs`: the media jobs of a client. `POST /v1/jobs/<id>/retry` begins a failed one again, `DELETE /v1/jobs/<id>` cancels one.
 */
export function clientJobsRoutes({ clients, clientJobs, baseUrl }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })

  /** @throws Problem 401, 403 */
  function clientOf(req: Request, action: Action): Client {
    const grant = callerBySecret(req, clients, action)
    // The jobs of all folders share one queue.
    checkEverywhere(grant)
    return grant.client
  }

  routes.get('/v1/jobs', async (req, res) => {
    const client = clientOf(req, 'read')
    const query = readJobsQuery(queryPairs(req))
    // One more shows whether there is a further page.
    const found = await clientJobs.list(client, { ...query, limit: query.limit + 1 })
    const jobs = found.slice(0, query.limit)
    const last = found.length > jobs.length ? jobs.at(-1) : undefined
    res.setHeader('Cache-Control', 'no-store')
    const page: JobList = {
      jobs: jobs.map((job) => jobToWire(job, { client, baseUrl })),
      ...(last ? { next: cursorAfter(last) } : {}),
    }
    res.json(page)
  })
  routes.all('/v1/jobs', methodNotAllowed('GET', 'HEAD'))

  // No refusal of other methods: the URL of a derivative may have this form.
  routes.post('/v1/jobs/:id/retry', async (req, res) => {
    const client = clientOf(req, 'manage')
    const job = await clientJobs.retry(client, keyOfJob(String(req.params.id)))
    res.setHeader('Cache-Control', 'no-store')
    res.json(jobToWire(job, { client, baseUrl }))
  })
  routes.delete('/v1/jobs/:id', async (req, res) => {
    const client = clientOf(req, 'manage')
    await clientJobs.cancel(client, keyOfJob(String(req.params.id)))
    res.status(204).end()
  })
  routes.all('/v1/jobs/:id', methodNotAllowed('DELETE'))
  return routes
}

function jobToWire(
  { key, original, status, createdAt, endedAt }: ClientJob,
  { client: { token }, baseUrl }: { client: Client; baseUrl: string },
): ListedJob {
  const { group } = original.format
  return {
    id: jobIdOf(key),
    url: derivativeUrl(key, { baseUrl, token, group }),
    state: SHOWN_STATES[status.state],
    progress: status.progress,
    file: original.key,
    attempts: status.attempts,
    ...(status.state === 'failed' ? { error: status.failure } : {}),
    createdAt: new Date(createdAt).toISOString(),
    ...(endedAt === undefined ? {} : { endedAt: new Date(endedAt).toISOString() }),
  }
}
