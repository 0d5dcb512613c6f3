import type { Log } from '../core/log.ts'
import type { FileChanges } from '../core/ports/index/file-changes.ts'
import type { Tracing } from '../core/ports/telemetry/tracing.ts'
import type { AuditTrail } from '../service/admin/audit.ts'
import type { Clients } from '../service/clients/clients.ts'
import type { Deliveries } from '../service/delivery/deliveries.ts'
import type { EagerTransforms } from '../service/delivery/eager-transforms.ts'
import type { FileInfos } from '../service/delivery/file-info.ts'
import type { Sessions } from '../service/members/sessions.ts'
import type { Caching, CachingOptions } from './caching/caching.ts'
import type { AllowedAddresses } from './caller/allowed-addresses.ts'
import type { BuiltConsole } from './console/built-files.ts'
import type { ElsewhereOptions, SendElsewhere } from './elsewhere/elsewhere.ts'
import type { ServicesOf } from './endpoint/routes.ts'
import type { ENDPOINTS } from './endpoints.ts'
import type { HotCacheWriter } from './hot/cache-writer.ts'
import type { HotPathOptions } from './hot/hot-path.ts'
import type { RequestEndsOptions } from './log/request-log.ts'
import type { MessageClasses } from './message-classes.ts'
import type { Readers } from './readers/readers.ts'
import type { Receive, RespondStored } from './upload/receive.ts'

/** Services that the HTTP layer makes for its own endpoints. */
interface OwnServices {
  readers: Readers
  cacheWriter: HotCacheWriter
  sendElsewhere: SendElsewhere | undefined
  caching: Caching
  receive: Receive
  respondStored: RespondStored
  apiDocument: () => object
  builtConsole: () => BuiltConsole | undefined
}

/** What the guards of all requests, the hot path and the storing of uploads need. */
interface GuardServices
  extends RequestEndsOptions,
    Pick<HotPathOptions, 'fullContentRange' | 'ignoredParams'> {
  clients: Clients
  deliveries: Deliveries
  eager: EagerTransforms
  informations: FileInfos
  sessions: Sessions
  audit: AuditTrail
  metrics: RequestEndsOptions['metrics'] & HotPathOptions['metrics']
  log: Log
  /** Undefined: requests are not traced. */
  tracing: Tracing | undefined
}

/** What holds for all requests. */
interface ConnectionSettings {
  /** The classes of the server's requests and responses. */
  messages: MessageClasses
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  /** The proxies whose `X-Forwarded-For` is trusted: their number, or their IP ranges. */
  trustProxy: number | readonly string[]
  /** The IP addresses that may use the console and secrets. */
  allowed: AllowedAddresses
  /** The origins whose pages may use a secret. */
  corsOrigins: readonly string[]
  /** Maximum of concurrent requests per IP address; 0: no limit. */
  responsesPerAddress: number
  /** Minimum rate of a client that reads a response, see `createReaders` of readers/readers.ts; 0: no minimum. */
  minReadBytesPerSecond: number
  /** How long caches may store files, and the headers with tags. */
  cachingOptions: CachingOptions
  /** The cache of small files in memory. `maxBytes` 0: disabled. */
  hot: { maxBytes: number; changes: FileChanges }
}

/** The dependencies and settings of the HTTP layer: the services that its endpoints name, and those of all requests. */
export type HttpOptions = Omit<ServicesOf<(typeof ENDPOINTS)[number]>, keyof OwnServices> &
  GuardServices &
  ElsewhereOptions &
  ConnectionSettings
