import type { IncomingMessage, RequestListener } from 'node:http'
import express from 'express'
import { deliverAliasRoutes } from './aliases/delivery-route.ts'
import { ALIASES } from './aliases/endpoints.ts'
import { ARCHIVES } from './archive/endpoints.ts'
import { crossOrigin } from './caller/cross-origin.ts'
import { operatorOnly } from './caller/operator.ts'
import { CLIENTS } from './clients/endpoints.ts'
import { compatRoutes } from './compat/routes.ts'
import { drainAfterResponse } from './connection/drain.ts'
import { rejectUnknownExpect } from './connection/expect-header.ts'
import { requireSingleHost } from './connection/host-header.ts'
import { limitPipelining, serializePipelined } from './connection/pipelining.ts'
import { inPortions } from './connection/portions.ts'
import { unnamedProxy } from './connection/proxy-warning.ts'
import { normalizeTarget, rejectBadTarget } from './connection/request-target.ts'
import { requireChunked } from './connection/transfer-encoding.ts'
import { refuseWorkerScripts } from './connection/worker-scripts.ts'
import { AUDIT } from './console/audit.ts'
import { auditActions, auditInterrupted } from './console/audit-actions.ts'
import { consoleSession } from './console/console-session.ts'
import { SESSIONS } from './console/endpoints.ts'
import { MEMBERS } from './console/members.ts'
import { consolePageRoutes } from './console/page-routes.ts'
import { fetchRoutes } from './delivery/fetch-routes.ts'
import { infoRoutes } from './delivery/info-routes.ts'
import { jobsRoutes } from './delivery/job-routes.ts'
import { deliverRoutes, isDelivery } from './delivery/routes.ts'
import { routesOf } from './endpoint/routes.ts'
import { FILES } from './files/endpoints.ts'
import { FOREIGN_OBJECTS } from './foreign/list.ts'
import { foreignRoutes } from './foreign/routes.ts'
import { createHotCache } from './hot/cache.ts'
import { createHotCacheWriter } from './hot/cache-writer.ts'
import { hotPath } from './hot/hot-path.ts'
import { inOrder } from './in-order.ts'
import { JOBS } from './jobs/endpoints.ts'
import { createRequestEnds, requestLog } from './log/request-log.ts'
import { extendMessages } from './message-classes.ts'
import { COPIES } from './moves/endpoints.ts'
import type { HttpOptions } from './options.ts'
import { PRESETS } from './presets/endpoints.ts'
import { notFound, problemHandler, resetWhenBrokenOff } from './problem.ts'
import { limitConcurrentResponses } from './readers/concurrent-responses.ts'
import { createReaders } from './readers/readers.ts'
import { SIGNING } from './signing/endpoints.ts'
import { healthRoutes, isHealthCheck } from './system/health.ts'
import { homeRoutes } from './system/home.ts'
import { metricsRoutes } from './system/metrics.ts'
import { openApiRoutes } from './system/openapi.ts'
import { parametersRoutes } from './system/parameters.ts'
import { referenceRoutes } from './system/reference.ts'
import { SYSTEM } from './system/report.ts'
import { tusRoutes } from './tus/routes.ts'
import { UPLOADS } from './upload/endpoints.ts'
import { signedUploadRoutes } from './upload/link-routes.ts'
import { createReception, createUploadResponder } from './upload/receive.ts'
import { USAGE } from './usage/endpoints.ts'
import { WEBHOOKS } from './webhooks/endpoints.ts'

/** Creates the request handler with all routes of the service. */
export function createHttp(given: HttpOptions): RequestListener {
  const readers = createReaders({ minBytesPerSecond: given.minReadBytesPerSecond, log: given.log })
  const cache = createHotCache(given.hot)
  const ends = createRequestEnds(given)
  const warnOfProxy = unnamedProxy(given)
  const options = { ...given, readers, cacheWriter: createHotCacheWriter(cache, ends) }
  const app = express()
  extendMessages(app, given.messages)
  app.disable('x-powered-by')
  app.set('trust proxy', options.trustProxy)
  // Express's ETags are off: files have their keys as ETags, and other responses are not revalidated.
  app.disable('etag')
  resetWhenBrokenOff(app)
  const portions = inPortions({ isUrgent: isHealthCheck })
  const concurrent = limitConcurrentResponses({
    most: options.responsesPerAddress,
    clients: options.clients,
  })
  const guards = inOrder(
    serializePipelined,
    portions,
    requestLog(ends),
    warnOfProxy,
    drainAfterResponse,
    limitPipelining,
    rejectBadTarget,
    requireSingleHost,
    rejectUnknownExpect,
    refuseWorkerScripts,
    requireChunked,
  )
  const deliver = deliverRoutes(options)
  const respondProblem = problemHandler(options.log)
  const deliverNow = inOrder(guards, concurrent.limit, deliver)
  // First, and with their own errors, because most requests are deliveries: each router that the request or its error passes on
  // its way costs time.
  app.use((req, res, next) => {
    if (!isDelivery(req)) return guards(req, res, next)
    deliverNow(req, res, (error) => (error ? respondProblem(error, req, res, next) : next()))
  })
  app.use(homeRoutes())
  app.use(healthRoutes(options.checks))
  if (options.metricsAccess) app.use(metricsRoutes(options.metricsAccess))
  app.use(crossOrigin(options.corsOrigins))
  app.use(concurrent.limit)
  app.use(consoleSession(options))
  app.use(auditActions(options))
  app.use(parametersRoutes(options.parameters))
  app.use(referenceRoutes())
  app.use(consolePageRoutes())
  app.use(openApiRoutes({ ...options, version: options.checks.version }))
  app.use(routesOf(PRESETS, options))
  app.use(routesOf(JOBS, options))
  app.use(routesOf(SYSTEM, options))
  const respondStored = createUploadResponder(options)
  const receive = createReception({ ...options, respondStored, maxBytes: options.tus.maxBytes })
  app.use(routesOf(SIGNING, options))
  app.use(signedUploadRoutes({ ...options, receive }))
  app.use(tusRoutes({ ...options, ...options.tus }))
  app.use(routesOf(UPLOADS, { ...options, receive, respondStored }))
  app.use(routesOf(COPIES, options))
  app.use(routesOf(FILES, options))
  app.use(routesOf(FOREIGN_OBJECTS, options))
  app.use(routesOf(ALIASES, options))
  app.use(routesOf(ARCHIVES, options))
  app.use(routesOf(SESSIONS, options))
  app.use('/v1/members', operatorOnly(options))
  app.use(routesOf(MEMBERS, options))
  app.use(routesOf(AUDIT, options))
  app.use(routesOf(USAGE, options))
  app.use('/v1/clients', operatorOnly(options))
  app.use(routesOf(CLIENTS, options))
  app.use(routesOf(WEBHOOKS, options))
  app.use(deliver)
  app.use(deliverAliasRoutes(options))
  app.use(fetchRoutes(options))
  app.use(foreignRoutes(options))
  app.use(compatRoutes(options))
  app.use(infoRoutes(options))
  app.use(jobsRoutes(options))
  app.use(notFound)
  app.use(auditInterrupted)
  app.use(respondProblem)
  const asExpress = (req: IncomingMessage) => Object.setPrototypeOf(req, app.request)
  return hotPath(
    { ...options, cache, ends, warnOfProxy, portions, concurrent, asExpress },
    normalizeTarget(app),
  )
}
