import type { RequestListener } from 'node:http'
import express from 'express'
import type { Client } from '../core/client.ts'
import type { DescribedParameters } from '../core/described.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/ports/metrics.ts'
import type { Limits } from '../core/ports/rate-limiter.ts'
import type { AdminSessions } from '../service/admin-sessions.ts'
import type { Annotate } from '../service/annotate.ts'
import type { Archive } from '../service/archive.ts'
import type { Clients } from '../service/clients.ts'
import type { Deliveries } from '../service/deliver.ts'
import type { Describe } from '../service/describe.ts'
import type { EagerTransforms } from '../service/eager.ts'
import type { Informations } from '../service/information.ts'
import type { KeptRemotes } from '../service/kept-remotes.ts'
import type { KnownAddresses } from '../service/known-addresses.ts'
import type { List } from '../service/list.ts'
import type { ManagedClients } from '../service/managed-clients.ts'
import type { ManyFiles } from '../service/many-files.ts'
import type { MediaJobs } from '../service/media-jobs.ts'
import type { RemotePictures } from '../service/remote-pictures.ts'
import type { RemoteUpload } from '../service/remote-upload.ts'
import type { Removals } from '../service/remove.ts'
import type { RemoveDerivatives } from '../service/remove-derivatives.ts'
import type { SignedLinks } from '../service/signed-links.ts'
import type { Upload } from '../service/upload.ts'
import type { Usage } from '../service/usage.ts'
import { answersAtOnce } from './answers-at-once.ts'
import { clientsRoutes } from './clients.ts'
import { deliverRoutes } from './deliver.ts'
import { drainAfterAnswer } from './drain.ts'
import { noOtherExpectation } from './expectation.ts'
import { fetchRoutes } from './fetch.ts'
import { fileDerivativesRoutes } from './file-derivatives.ts'
import { filesRoutes } from './files.ts'
import { filesManyRoutes } from './files-many.ts'
import { healthRoutes, isHealthCheck, type ReadinessChecks } from './health.ts'
import { homeRoutes } from './home.ts'
import { oneHost } from './host.ts'
import { infoRoutes } from './info.ts'
import { jobsRoutes } from './jobs.ts'
import { type MetricsAccess, metricsRoutes } from './metrics.ts'
import { parametersRoutes } from './parameters.ts'
import { inTurn, notTooMany } from './pipelined.ts'
import { inPortions } from './portions.ts'
import { notFound, problemHandler, resetWhenBrokenOff } from './problem.ts'
import { createReaders } from './readers.ts'
import { createReception, createStoredAnswer } from './receive.ts'
import { removeRoutes } from './remove.ts'
import { requestLog } from './request-log.ts'
import type { FullContentRange } from './send.ts'
import { signRoutes } from './sign.ts'
import { signInRoutes } from './sign-in.ts'
import { signUrlRoutes } from './sign-url.ts'
import { signedUploadRoutes } from './signed-upload.ts'
import { byPath, knownTarget } from './target.ts'
import { onlyChunked } from './transfer-coding.ts'
import { tusRoutes } from './tus.ts'
import type { TusOptions } from './tus-server.ts'
import { unnamedProxy } from './unnamed-proxy.ts'
import { uploadRoutes } from './upload.ts'
import { usageRoutes } from './usage.ts'
import { zipRoutes } from './zip.ts'

/** What the HTTP layer stands on. */
export interface HttpOptions {
  clients: Clients
  adminSessions: AdminSessions
  knownAddresses: KnownAddresses
  managedClients: ManagedClients
  /** Tokens in the clear that are to reach no log line. */
  secrets: readonly string[]
  /** 32 bytes, that the cursors of lists are sealed with. */
  cursorKey: Buffer
  upload: Upload
  remoteUpload: RemoteUpload
  keptRemotes: KeptRemotes
  remotePictures: RemotePictures
  /** Uploads in several requests. */
  tus: Omit<TusOptions, 'baseUrl'>
  signedLinks: SignedLinks
  findClient: (id: string) => Client | undefined
  deliveries: Deliveries
  informations: Informations
  media: MediaJobs
  eager: EagerTransforms
  removals: Removals
  removeDerivatives: RemoveDerivatives
  list: List
  describe: Describe
  annotate: Annotate
  many: ManyFiles
  usage: Usage
  archive: Archive
  limits: Limits
  /** Whose `X-Forwarded-For` is believed: how many proxies there are in front, or their ranges. */
  trustProxy: number | readonly string[]
  checks: ReadinessChecks
  /** Without a slash at its end. */
  baseUrl: string
  fullContentRange: FullContentRange
  /** Of one upload. */
  maxFiles: number
  /** Of a body; 0: as slowly as they like. */
  minBytesPerSecond: number
  /** Requests of one address that are answered at the same time; 0: no limit. */
  answersPerAddress: number
  /** The least pace of a client that reads an answer, see {@link createReaders}; 0: none. */
  minReadBytesPerSecond: number
  /** Names in a query that are passed over, beside those of every installation. */
  ignoredParams: readonly string[]
  /** What delivery URLs take. */
  parameters: DescribedParameters
  log: Log
  metrics: Metrics
  /** Where there is a token to read them with. */
  metricsAccess?: MetricsAccess | undefined
}

/** All routes of the service. */
export function createHttp(given: HttpOptions): RequestListener {
  const readers = createReaders({ minBytesPerSecond: given.minReadBytesPerSecond, log: given.log })
  const options = { ...given, readers }
  const app = express()
  app.disable('x-powered-by')
  app.set('trust proxy', options.trustProxy)
  // Files have their keys as tags; nothing else is to be revalidated.
  app.disable('etag')
  resetWhenBrokenOff(app)
  app.use(inTurn)
  app.use(inPortions({ isUrgent: isHealthCheck }))
  app.use(requestLog(options))
  app.use(unnamedProxy(options))
  app.use(drainAfterAnswer)
  app.use(notTooMany)
  app.use(knownTarget)
  app.use(oneHost)
  app.use(noOtherExpectation)
  app.use(onlyChunked)
  app.use(homeRoutes())
  app.use(healthRoutes(options.checks))
  if (options.metricsAccess) app.use(metricsRoutes(options.metricsAccess))
  app.use(answersAtOnce({ most: options.answersPerAddress, clients: options.clients }))
  app.use(parametersRoutes(options.parameters))
  const answerStored = createStoredAnswer(options)
  const receive = createReception({ ...options, answerStored })
  app.use(signUrlRoutes(options))
  app.use(signRoutes(options))
  app.use(signedUploadRoutes({ ...options, receive }))
  app.use(tusRoutes({ ...options, ...options.tus }))
  app.use(uploadRoutes({ ...options, receive, answerStored }))
  app.use(removeRoutes(options))
  app.use(usageRoutes(options))
  app.use(filesManyRoutes(options))
  app.use(fileDerivativesRoutes(options))
  app.use(filesRoutes(options))
  app.use(zipRoutes(options))
  app.use(signInRoutes(options))
  app.use(clientsRoutes(options))
  app.use(deliverRoutes(options))
  app.use(fetchRoutes(options))
  app.use(infoRoutes(options))
  app.use(jobsRoutes(options))
  app.use(notFound)
  app.use(problemHandler(options.log))
  return byPath(app)
}
