import type { RequestHandler } from 'express'
import { Problem } from '../../core/problem.ts'

/**
 * Refuses to deliver the script of a service worker. An uploaded file would otherwise become a worker of this origin, which sees all
 * requests of its pages: of the console, too. The service has no worker of its own.
 *
 * @throws Problem 403
 * @see https://w3c.github.io/ServiceWorker/#service-worker-script-request
 */
export const refuseWorkerScripts: RequestHandler = ({ headers }, _res, next) => {
  if (headers['service-worker'] === undefined) return next()
  throw new Problem({
    status: 403,
    code: 'worker_script',
    detail:
      'Files of this origin cannot be service workers. Serve the script of a worker from another origin.',
  })
}
