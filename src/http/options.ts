import type { Client } from '../core/clients/client.ts'
import type { Log } from '../core/log.ts'
import type { DescribedParameters } from '../core/plugin-api/describe-parameters.ts'
import type { FileChanges } from '../core/ports/index/file-changes.ts'
import type { Metrics } from '../core/ports/metrics.ts'
import type { Limits } from '../core/ports/rate-limiter.ts'
import type { AuditTrail } from '../service/admin/audit.ts'
import type { ManagedClients } from '../service/admin/clients.ts'
import type { KnownAddresses } from '../service/admin/known-addresses.ts'
import type { AdminSessions } from '../service/admin/sessions.ts'
import type { Aliases } from '../service/aliases/aliases.ts'
import type { ListAliases } from '../service/aliases/list.ts'
import type { Archive } from '../service/archive/archive.ts'
import type { ArchiveLinks } from '../service/archive/links.ts'
import type { LayOutArchive } from '../service/archive/stored-archive.ts'
import type { Clients } from '../service/clients/clients.ts'
import type { ClientPresets } from '../service/clients/presets.ts'
import type { RepeatedRequests } from '../service/clients/repeated-requests.ts'
import type { ClientJobs } from '../service/delivery/client-jobs.ts'
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
import type { LastSeen } from '../service/members/last-seen.ts'
import type { Members } from '../service/members/members.ts'
import type { Sessions } from '../service/members/sessions.ts'
import type { SignIn } from '../service/members/sign-in.ts'
import type { Copies } from '../service/moves/copies.ts'
import type { Redirects } from '../service/moves/redirects.ts'
import type { Removals } from '../service/originals/delete.ts'
import type { RemoteMirror } from '../service/remote/keep.ts'
import type { RemotePictures } from '../service/remote/transform.ts'
import type { RemoteUpload } from '../service/remote/upload.ts'
import type { SignedLinks } from '../service/upload/upload-links.ts'
import type { Upload } from '../service/upload/upload-request.ts'
import type { CompatOptions } from './compat/routes.ts'
import type { FullContentRange } from './delivery/send.ts'
import type { MessageClasses } from './message-classes.ts'
import type { ReadinessChecks } from './system/health.ts'
import type { MetricsAccess } from './system/metrics.ts'
import type { SystemFacts } from './system/report.ts'
import type { TusOptions } from './tus/protocol.ts'

/** Clients, and the access of callers. */
interface AccessServices {
  clients: Clients
  findClient: (id: string) => Client | undefined
  adminSessions: AdminSessions
  knownAddresses: KnownAddresses
  managedClients: ManagedClients
  limits: Limits
  repeatedRequests: RepeatedRequests
  webhooks: Webhooks
}

/** Members of the console, and their sessions. */
interface ConsoleServices {
  sessions: Sessions
  signIn: SignIn
  members: Members
  lastSeen: LastSeen
  audit: AuditTrail
  /** Whether there is a member who can sign in. */
  isSetUp: () => boolean
  listClients: () => readonly Client[]
}

/** Uploads: by form, as raw bytes, by link, by URL, and in several requests. */
interface UploadServices {
  upload: Upload
  remoteUpload: RemoteUpload
  signedLinks: SignedLinks
  eager: EagerTransforms
  /** Settings of resumable uploads. */
  tus: Omit<TusOptions, 'baseUrl'>
  /** Maximum number of files per upload. */
  maxFiles: number
}

/** Delivery of files, of files of other servers and systems, and of what is derived from them. */
interface DeliveryServices {
  deliveries: Deliveries
  remoteMirror: RemoteMirror
  remotePictures: RemotePictures
  deliverForeign: DeliverForeign
  listForeign: ListForeign
  informations: FileInfos
  media: MediaJobs
  clientJobs: ClientJobs
  archive: Archive
  layOutArchive: LayOutArchive
  archiveLinks: ArchiveLinks
  redirects: Redirects
  /** Other services whose URLs are delivered. */
  compat: CompatOptions
  fullContentRange: FullContentRange
  /** Names of query parameters that are ignored, in addition to the built-in ones. */
  ignoredParams: readonly string[]
  /** The parameters of delivery URLs. */
  parameters: DescribedParameters
}

/** Lists of files, and changes of files. */
interface FileServices {
  list: List
  count: CountFiles
  listFolders: ListFolders
  describe: Describe
  annotate: Annotate
  many: ManyFiles
  copies: Copies
  removals: Removals
  removeDerivatives: RemoveDerivatives
  aliases: Aliases
  listAliases: ListAliases
  presets: ClientPresets
  usage: Usage
  /** 32 bytes, the key that seals the cursors of lists. */
  cursorKey: Buffer
}

/** What holds for all requests. */
interface ConnectionSettings {
  /** The classes of the server's requests and responses. */
  messages: MessageClasses
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  /** The proxies whose `X-Forwarded-For` is trusted: their number, or their IP ranges. */
  trustProxy: number | readonly string[]
  /** The origins whose pages may use a secret. */
  corsOrigins: readonly string[]
  /** Maximum of concurrent requests per IP address; 0: no limit. */
  responsesPerAddress: number
  /** Minimum rate of a request body; 0: no minimum. */
  minBytesPerSecond: number
  /** Minimum rate of a client that reads a response, see `createReaders` of readers/readers.ts; 0: no minimum. */
  minReadBytesPerSecond: number
  /** Tokens in plain text that must not appear in the log. */
  secrets: readonly string[]
  checks: ReadinessChecks
  systemFacts: SystemFacts
  /** The cache of small files in memory. `maxBytes` 0: disabled. */
  hot: { maxBytes: number; changes: FileChanges }
  log: Log
  metrics: Metrics
  /** Set when METRICS_TOKEN is configured. */
  metricsAccess?: MetricsAccess | undefined
}

/** The dependencies and settings of the HTTP layer. */
export interface HttpOptions
  extends AccessServices,
    ConsoleServices,
    UploadServices,
    DeliveryServices,
    FileServices,
    ConnectionSettings {}
