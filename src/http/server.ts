import type { RequestListener } from 'node:http'
import express from 'express'
import type { Client } from '../core/clients/client.ts'
import type { Log } from '../core/log.ts'
import type { DescribedParameters } from '../core/plugin-api/describe-parameters.ts'
import type { Metrics } from '../core/ports/metrics.ts'
import type { Limits } from '../core/ports/rate-limiter.ts'
import type { ManagedClients } from '../service/admin/clients.ts'
import type { KnownAddresses } from '../service/admin/known-addresses.ts'
import type { AdminSessions } from '../service/admin/sessions.ts'
import type { Aliases } from '../service/aliases/aliases.ts'
import type { ListAliases } from '../service/aliases/list.ts'
import type { Archive } from '../service/archive/archive.ts'
import type { Clients } from '../service/clients/clients.ts'
import type { ListPresets } from '../service/clients/presets.ts'
import type { Deliveries } from '../service/delivery/deliveries.ts'
import type { EagerTransforms } from '../service/delivery/eager-transforms.ts'
import type { FileInfos } from '../service/delivery/file-info.ts'
import type { MediaJobs } from '../service/delivery/media-job.ts'
import type { RemoveDerivatives } from '../service/derivatives/remove.ts'
import type { Webhooks } from '../service/events/webhooks.ts'
import type { Annotate } from '../service/files/annotate.ts'
import type { ManyFiles } from '../service/files/batch.ts'
import type { CountFiles } from '../service/files/count.ts'
import type { Describe } from '../service/files/describe.ts'
import type { ListFolders } from '../service/files/folders.ts'
import type { List } from '../service/files/list.ts'
import type { Usage } from '../service/files/usage.ts'
import type { DeliverForeign } from '../service/foreign/deliver.ts'
import type { ListForeign } from '../service/foreign/list.ts'
import type { Copies } from '../service/moves/copies.ts'
import type { Redirects } from '../service/moves/redirects.ts'
import type { Removals } from '../service/originals/delete.ts'
import type { RemoteMirror } from '../service/remote/keep.ts'
import type { RemotePictures } from '../service/remote/transform.ts'
import type { RemoteUpload } from '../service/remote/upload.ts'
import type { SignedLinks } from '../service/upload/upload-links.ts'
import type { Upload } from '../service/upload/upload-request.ts'
import { clientsRoutes } from './admin/client-routes.ts'
import { signInRoutes } from './admin/sign-in.ts'
import { deliverAliasRoutes } from './aliases/delivery-route.ts'
import { aliasesRoutes } from './aliases/routes.ts'
import { zipRoutes } from './archive/routes.ts'
import { crossOrigin } from './caller/cross-origin.ts'
import { type CompatOptions, compatRoutes } from './compat/routes.ts'
import { drainAfterResponse } from './connection/drain.ts'
import { rejectUnknownExpect } from './connection/expect-header.ts'
import { requireSingleHost } from './connection/host-header.ts'
import { limitPipelining, serializePipelined } from './connection/pipelining.ts'
import { inPortions } from './connection/portions.ts'
import { unnamedProxy } from './connection/proxy-warning.ts'
import { normalizeTarget, rejectBadTarget } from './connection/request-target.ts'
import { requireChunked } from './connection/transfer-encoding.ts'
import { fetchRoutes } from './delivery/fetch-routes.ts'
import { infoRoutes } from './delivery/info-routes.ts'
import { jobsRoutes } from './delivery/job-routes.ts'
import { deliverRoutes } from './delivery/routes.ts'
import type { FullContentRange } from './delivery/send.ts'
import { filesManyRoutes } from './files/batch-routes.ts'
import { removeRoutes } from './files/delete-route.ts'
import { fileDerivativesRoutes } from './files/derivatives-route.ts'
import { foldersRoutes } from './files/folders-route.ts'
import { filesRoutes } from './files/routes.ts'
import { usageRoutes } from './files/usage-route.ts'
import { foreignRoutes } from './foreign/routes.ts'
import { requestLog } from './log/request-log.ts'
import { copiesRoutes } from './moves/routes.ts'
import { notFound, problemHandler, resetWhenBrokenOff } from './problem.ts'
import { limitConcurrentResponses } from './readers/concurrent-responses.ts'
import { createReaders } from './readers/readers.ts'
import { signRoutes } from './signing/upload-link-routes.ts'
import { signUrlRoutes } from './signing/url-routes.ts'
import { healthRoutes, isHealthCheck, type ReadinessChecks } from './system/health.ts'
import { homeRoutes } from './system/home.ts'
import { type MetricsAccess, metricsRoutes } from './system/metrics.ts'
import { openApiRoutes } from './system/openapi.ts'
import { parametersRoutes } from './system/parameters.ts'
import { presetsRoutes } from './system/presets.ts'
import { referenceRoutes } from './system/reference.ts'
import type { TusOptions } from './tus/protocol.ts'
import { tusRoutes } from './tus/routes.ts'
import { signedUploadRoutes } from './upload/link-routes.ts'
import { createReception, createUploadResponder } from './upload/receive.ts'
import { uploadRoutes } from './upload/routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'

/** The dependencies and settings of the HTTP layer. */
export interface HttpOptions {
  clients: Clients
  adminSessions: AdminSessions
  knownAddresses: KnownAddresses
  managedClients: ManagedClients
  /** Tokens in plain text that must not appear in the log. */
  secrets: readonly string[]
  /** 32 bytes, the key that seals the cursors of lists. */
  cursorKey: Buffer
  upload: Upload
  remoteUpload: RemoteUpload
  remoteMirror: RemoteMirror
  remotePictures: RemotePictures
  /** Settings of resumable uploads. */
  tus: Omit<TusOptions, 'baseUrl'>
  signedLinks: SignedLinks
  findClient: (id: string) => Client | undefined
  deliveries: Deliveries
  deliverForeign: DeliverForeign
  listForeign: ListForeign
  informations: FileInfos
  media: MediaJobs
  eager: EagerTransforms
  removals: Removals
  removeDerivatives: RemoveDerivatives
  list: List
  count: CountFiles
  listFolders: ListFolders
  aliases: Aliases
  listAliases: ListAliases
  listPresets: ListPresets
  describe: Describe
  annotate: Annotate
  many: ManyFiles
  copies: Copies
  redirects: Redirects
  usage: Usage
  archive: Archive
  webhooks: Webhooks
  limits: Limits
  /** The proxies whose `X-Forwarded-For` is trusted: their number, or their IP ranges. */
  trustProxy: number | readonly string[]
  checks: ReadinessChecks
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  fullContentRange: FullContentRange
  /** Maximum number of files per upload. */
  maxFiles: number
  /** Minimum rate of a request body; 0: no minimum. */
  minBytesPerSecond: number
  /** Maximum of concurrent requests per IP address; 0: no limit. */
  responsesPerAddress: number
  /** Minimum rate of a client that reads a response, see {@link createReaders}; 0: no minimum. */
  minReadBytesPerSecond: number
  /** Names of query parameters that are ignored, in addition to the built-in ones. */
  ignoredParams: readonly string[]
  /** Other services whose URLs are delivered. */
  compat: CompatOptions
  /** The origins whose pages may use a secret. */
  corsOrigins: readonly string[]
  /** The parameters of delivery URLs. */
  parameters: DescribedParameters
  log: Log
  metrics: Metrics
  /** Set when METRICS_TOKEN is configured. */
  metricsAccess?: MetricsAccess | undefined
}

/** Creates the request handler with all routes of the service. */
export function createHttp(given: HttpOptions): RequestListener {
  const readers = createReaders({ minBytesPerSecond: given.minReadBytesPerSecond, log: given.log })
  const options = { ...given, readers }
  const app = express()
  app.disable('x-powered-by')
  app.set('trust proxy', options.trustProxy)
  // Express's ETags are off: files have their keys as ETags, and other responses are not revalidated.
  app.disable('etag')
  resetWhenBrokenOff(app)
  app.use(serializePipelined)
  app.use(inPortions({ isUrgent: isHealthCheck }))
  app.use(requestLog(options))
  app.use(unnamedProxy(options))
  app.use(drainAfterResponse)
  app.use(limitPipelining)
  app.use(rejectBadTarget)
  app.use(requireSingleHost)
  app.use(rejectUnknownExpect)
  app.use(requireChunked)
  app.use(homeRoutes())
  app.use(healthRoutes(options.checks))
  if (options.metricsAccess) app.use(metricsRoutes(options.metricsAccess))
  app.use(crossOrigin(options.corsOrigins))
  app.use(limitConcurrentResponses({ most: options.responsesPerAddress, clients: options.clients }))
  app.use(parametersRoutes(options.parameters))
  app.use(referenceRoutes())
  app.use(openApiRoutes({ ...options, version: options.checks.version }))
  app.use(presetsRoutes(options))
  const respondStored = createUploadResponder(options)
  const receive = createReception({ ...options, respondStored })
  app.use(signUrlRoutes(options))
  app.use(signRoutes(options))
  app.use(signedUploadRoutes({ ...options, receive }))
  app.use(tusRoutes({ ...options, ...options.tus }))
  app.use(uploadRoutes({ ...options, receive, respondStored }))
  app.use(removeRoutes(options))
  app.use(usageRoutes(options))
  app.use(filesManyRoutes(options))
  app.use(copiesRoutes(options))
  app.use(fileDerivativesRoutes(options))
  app.use(filesRoutes(options))
  app.use(foldersRoutes(options))
  app.use(aliasesRoutes(options))
  app.use(zipRoutes(options))
  app.use(signInRoutes(options))
  app.use(clientsRoutes(options))
  app.use(webhookRoutes(options))
  app.use(deliverRoutes(options))
  app.use(deliverAliasRoutes(options))
  app.use(fetchRoutes(options))
  app.use(foreignRoutes(options))
  app.use(compatRoutes(options))
  app.use(infoRoutes(options))
  app.use(jobsRoutes(options))
  app.use(notFound)
  app.use(problemHandler(options.log))
  return normalizeTarget(app)
}
