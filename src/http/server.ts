import type { IncomingMessage, RequestListener } from 'node:http'
import express from 'express'
import { createCaching } from './caching/caching.ts'
import { allowedAddresses } from './caller/allowed-addresses.ts'
import { crossOrigin } from './caller/cross-origin.ts'
import { operatorOnly } from './caller/operator.ts'
import { noteOrigin } from './caller/page-origin.ts'
import { drainAfterResponse } from './connection/drain.ts'
import { limitPipelining, serializePipelined } from './connection/pipelining.ts'
import { inPortions } from './connection/portions.ts'
import { unnamedProxy } from './connection/proxy-warning.ts'
import {
  refuseWorkerScripts,
  rejectUnknownExpect,
  requireChunked,
  requireSingleHost,
} from './connection/refused-headers.ts'
import { normalizeTarget, rejectBadTarget } from './connection/request-target.ts'
import { auditActions, auditInterrupted } from './console/audit-actions.ts'
import { createBuiltConsole } from './console/built-files.ts'
import { consoleSession } from './console/console-session.ts'
import { DELIVERIES, isDelivery } from './delivery/deliver.ts'
import { openApiDocument } from './documents/openapi/document.ts'
import { createSendElsewhere, usualSender } from './elsewhere/elsewhere.ts'
import { routesOf } from './endpoint/routes.ts'
import { ENDPOINTS, FEATURES, STATE } from './endpoints.ts'
import { createHotCache } from './hot/cache.ts'
import { createHotCacheWriter } from './hot/cache-writer.ts'
import { hotPath } from './hot/hot-path.ts'
import type { HttpOptions } from './http-options.ts'
import { inOrder } from './in-order.ts'
import { createIdentify } from './log/request-ids.ts'
import { createRequestEnds, deliveryRoutes, requestLog } from './log/request-log.ts'
import { extendMessages } from './message-classes.ts'
import { suggestedRoutes } from './nearest-route.ts'
import { notFound, problemHandler, resetWhenBrokenOff } from './problem.ts'
import { limitConcurrentResponses } from './readers/concurrent-responses.ts'
import { createReaders } from './readers/readers.ts'
import { isHealthCheck } from './system/health.ts'
import { overrideMethod } from './tus/request.ts'
import { createReception, createUploadResponder } from './upload/receive.ts'

/** Creates the request handler with all routes of the service. */
export function createHttp(options: HttpOptions): RequestListener {
  const readers = createReaders({ minBytesPerSecond: options.minReadBytesPerSecond, log: options.log })
  const cache = createHotCache(options.hot)
  const ends = createRequestEnds(options, deliveryRoutes(ENDPOINTS))
  const warnOfProxy = unnamedProxy(options)
  const respondStored = createUploadResponder(options)
  const services = {
    ...options,
    readers,
    cacheWriter: createHotCacheWriter(cache, ends, usualSender(options)),
    sendElsewhere: createSendElsewhere(options),
    caching: createCaching(options.cachingOptions),
    respondStored,
    receive: createReception({ ...options, respondStored, maxBytes: options.tus.maxBytes }),
    apiDocument: () => openApiDocument({ ...options, version: options.checks.version }),
    builtConsole: createBuiltConsole(),
  }
  const app = express()
  extendMessages(app, options.messages)
  app.disable('x-powered-by')
  app.set('trust proxy', options.trustProxy)
  // Express's ETags are off: files have their keys as ETags, and other responses are not revalidated.
  app.disable('etag')
  resetWhenBrokenOff(app)
  const trusts: (address: string, hop: number) => boolean = app.get('trust proxy fn')
  const identify = createIdentify(({ socket }) => trusts(socket.remoteAddress ?? '', 0), options.tracing)
  const portions = inPortions({ isUrgent: isHealthCheck })
  const concurrent = limitConcurrentResponses({
    most: options.responsesPerAddress,
    clients: options.clients,
  })
  const guards = inOrder(
    serializePipelined,
    portions,
    requestLog(ends, identify),
    warnOfProxy,
    drainAfterResponse,
    limitPipelining,
    rejectBadTarget,
    requireSingleHost,
    rejectUnknownExpect,
    refuseWorkerScripts,
    requireChunked,
    ...(options.corsOrigins.length > 0 ? [noteOrigin(options.corsOrigins)] : []),
  )
  const deliver = routesOf(DELIVERIES, services)
  const respondProblem = problemHandler(options.log)
  const deliverNow = inOrder(guards, concurrent.limit, deliver)
  // First, and with their own errors, because most requests are deliveries: each router that the request or its error passes on
  // its way costs time.
  app.use((req, res, next) => {
    if (!isDelivery(req)) return guards(req, res, next)
    deliverNow(req, res, (error) => (error ? respondProblem(error, req, res, next) : next()))
  })
  app.use(routesOf(STATE, services))
  app.use(crossOrigin(options.corsOrigins, ENDPOINTS))
  app.use(allowedAddresses(options.allowed, options))
  app.use(concurrent.limit)
  app.use(consoleSession(options))
  app.use(auditActions(options))
  app.use(['/v1/members', '/v1/clients'], operatorOnly(options))
  app.use(overrideMethod)
  app.use(routesOf(FEATURES, services))
  app.use(notFound(suggestedRoutes(ENDPOINTS.map(({ route }) => route))))
  app.use(auditInterrupted)
  app.use(respondProblem)
  const asExpress = (req: IncomingMessage) => Object.setPrototypeOf(req, app.request)
  return hotPath(
    { ...services, cache, ends, identify, warnOfProxy, portions, concurrent, asExpress },
    normalizeTarget(app),
  )
}
