import { isPort, privateRanges, readBaseUrl, readProxies } from './address.ts'
import { CACHING_VARIABLES } from './caching.ts'
import { COMPAT_VARIABLES } from './compat.ts'
import { CROSS_ORIGIN_VARIABLES } from './cross-origin.ts'
import { DERIVATIVE_VARIABLES } from './derivatives.ts'
import { ELSEWHERE_VARIABLES } from './elsewhere.ts'
import { MEMORY_VARIABLES } from './memory-profile.ts'
import { PLUGIN_VARIABLES } from './plugins.ts'
import { PURGE_VARIABLES } from './purge.ts'
import { RATE_VARIABLES } from './rates.ts'
import { SIGN_IN_VARIABLES } from './sign-in.ts'
import { STORAGE_VARIABLES } from './storage.ts'
import { TELEMETRY_VARIABLES } from './telemetry.ts'
import { TRANSFORMATION_VARIABLES } from './transformations.ts'
import { integer, listOf, oneOf, text, type Variable } from './variable.ts'
import { WEBHOOK_VARIABLES } from './webhooks.ts'

const GIB = 1024 ** 3

/** Every environment variable of the service. Variables without a default are optional. */
export const VARIABLES = {
  PORT: integer({ min: 0, max: 65535, default: 3000, help: 'Port to listen on. 0: any free port.' }),
  HOST: text({
    pattern: /^[\w.:%-]+$/,
    expected: 'an IP address or host name',
    default: '0.0.0.0',
    help: 'IP address or host name to listen on.',
  }),
  BASE_URL: {
    help: 'Public URL of the service, used in the URLs of responses.',
    expected: 'an http or https URL without query',
    default: 'http://localhost:<PORT>',
    read: readBaseUrl,
  },
  ...STORAGE_VARIABLES,
  ...ELSEWHERE_VARIABLES,
  CLIENT_TOKEN: text({
    pattern: /^[\w-]{8,128}$/,
    expected: '8 to 128 letters, digits, "-" or "_"',
    help: 'Public token of the first client, part of its URLs. When unset, it is created at the first start and stored in DATA_DIR/credentials.json.',
  }),
  SECRET_CLIENT_TOKEN: text({
    pattern: /^[\x21-\x7e]{16,256}$/,
    expected: '16 to 256 printable characters without spaces',
    secret: true,
    help: 'Secret token of the first client, for the Authorization header. When unset, it is created at the first start and stored in DATA_DIR/credentials.json.',
  }),
  APP_SECRET: text({
    pattern: /^[\x21-\x7e]{32,256}$/,
    expected: '32 to 256 printable characters without spaces',
    secret: true,
    help: 'Key that signs links and encrypts stored credentials. When unset, it is created at the first start and stored in DATA_DIR/app-secret. Required with REDIS_URL, the same for all processes. Include it in every backup.',
  }),
  ...SIGN_IN_VARIABLES,
  TRUST_PROXY: {
    help: 'Trusted proxies in front of the service. X-Forwarded-For of these proxies sets the IP address of the caller. 0: X-Forwarded-For is ignored.',
    expected:
      'the number of proxies from 0 to 10, or their IP ranges like 10.0.0.0/8, separated by spaces or commas',
    default: '0',
    read: readProxies,
  },
  ...CROSS_ORIGIN_VARIABLES,
  ...COMPAT_VARIABLES,
  UPLOAD_MAX_BYTES: integer({
    min: 1,
    unit: 'bytes',
    default: 5 * GIB,
    help: 'Maximum size of an uploaded file. With S3 at most 5 TiB, and 78 GiB for files that pass through Sluice.',
  }),
  UPLOAD_MAX_FILES: integer({
    min: 1,
    max: 10_000,
    unit: 'files',
    default: 100,
    help: 'Maximum number of files in one upload request.',
  }),
  RESUMABLE_UPLOAD_TTL_SECONDS: integer({
    min: 1,
    max: 31_536_000,
    unit: 'seconds',
    default: 86_400,
    help: 'Lifetime of an incomplete resumable upload, from its creation. For a direct upload, from its last part, and up to an hour longer; at the latest after this time and one second per megabyte.',
  }),
  SEND_104: oneOf({
    words: ['0', '1'],
    default: '0',
    help: 'Whether a client learns the URL of its resumable upload while it still sends the first bytes, as URLSession of iOS must. 1: only without nginx in front, which takes the interim response 104 for the final one.',
  }),
  ...MEMORY_VARIABLES,
  ...TRANSFORMATION_VARIABLES,
  UV_THREADPOOL_SIZE: integer({
    min: 1,
    max: 1024,
    unit: 'threads',
    default: 4,
    help: 'Threads for files and image transformations, read by Node itself. Transformations in the web process leave two threads for files. npm start sets it to the number of cores plus five.',
  }),
  HEADERS_TIMEOUT_SECONDS: integer({
    min: 1,
    max: 3600,
    unit: 'seconds',
    // nginx and Node have 60; a browser sends its headers at once.
    default: 30,
    help: 'Timeout for the request line and headers of a request.',
  }),
  HEADERS_MAX_BYTES: integer({
    min: 4096,
    max: 1024 ** 2,
    unit: 'bytes',
    default: 16_384,
    help: 'Maximum size of the request line and headers of a request.',
  }),
  IDLE_TIMEOUT_SECONDS: integer({
    min: 1,
    max: 86_400,
    unit: 'seconds',
    // A transformation that waits for its turn sends nothing for up to a minute.
    default: 120,
    help: 'Idle timeout of a connection within a request or response.',
  }),
  UPLOAD_MIN_BYTES_PER_SECOND: integer({
    min: 0,
    max: 1024 ** 2,
    unit: 'bytes',
    // The default of Kestrel: a modem of 2,400 baud.
    default: 240,
    help: 'Minimum average upload rate of a request body after the first 5 s. 0: no minimum.',
  }),
  CONNECTIONS_PER_ADDRESS: integer({
    min: 0,
    max: 1_000_000,
    unit: 'requests',
    // An office of 85 browsers with six connections each, all of them in use at the same time.
    default: 512,
    help: 'Maximum concurrent requests per IP address and process. Further requests return 429. Requests with the secret of a client are counted separately. 0: unlimited.',
  }),
  DOWNLOAD_MIN_BYTES_PER_SECOND: integer({
    min: 0,
    max: 1024 ** 2,
    unit: 'bytes',
    // A phone on EDGE reads some 4,000 bytes/s; audio of 16 kbit/s needs 2,000.
    default: 1024,
    help: 'Minimum average rate at which a caller must read a file or an archive, after a grace period of 2 minutes. Slower callers are disconnected. 0: no minimum.',
  }),
  KEEP_ALIVE_SECONDS: integer({
    min: 1,
    max: 3600,
    unit: 'seconds',
    // Load balancers close idle connections after 60 s. They should be the first to close.
    default: 75,
    help: 'Keep-alive timeout of a connection between requests. It should be longer than the timeout of a proxy in front.',
  }),
  SHUTDOWN_DELAY_SECONDS: integer({
    min: 0,
    max: 600,
    unit: 'seconds',
    // Docker kills ten seconds after SIGTERM; load balancers usually check every two or three.
    default: 3,
    help: 'Delay after SIGTERM in which /readyz returns 503 but requests are still accepted, so that a load balancer can stop sending them.',
  }),
  SHUTDOWN_DRAIN_SECONDS: integer({
    min: 1,
    max: 3600,
    unit: 'seconds',
    // Heroku kills 30 s after SIGTERM.
    default: 10,
    help: 'Time for requests in progress after that delay. Uploads that take longer are cut off; those of tus can continue.',
  }),
  ...RATE_VARIABLES,
  ...DERIVATIVE_VARIABLES,
  FETCH_TIMEOUT_SECONDS: integer({
    min: 1,
    max: 300,
    unit: 'seconds',
    default: 30,
    help: 'Timeout for fetching a remote image that is transformed without being stored.',
  }),
  FETCH_KEEP_TIMEOUT_SECONDS: integer({
    min: 1,
    max: 86_400,
    unit: 'seconds',
    // During the fetch the connection of the caller is idle, and IDLE_TIMEOUT_SECONDS closes it.
    default: 100,
    help: 'Timeout for fetching a remote file that is stored. It should be shorter than IDLE_TIMEOUT_SECONDS.',
  }),
  FETCH_PORTS: listOf({
    item: isPort,
    expected: 'ports from 1 to 65535, separated by spaces or commas',
    help: 'Ports that remote files may be fetched from, in addition to 80 and 443.',
  }),
  FETCH_ALLOW_ADDRESSES: privateRanges(
    'Private IP ranges that files may be fetched from. Every caller with the right to fetch can then read files of these servers. Private addresses are refused when unset.',
  ),
  ...PLUGIN_VARIABLES,
  ...WEBHOOK_VARIABLES,
  ...CACHING_VARIABLES,
  ...PURGE_VARIABLES,
  WEB_CONCURRENCY: integer({
    min: 1,
    max: 64,
    unit: 'processes',
    default: 1,
    help: 'Number of web processes that share the port. More than one requires REDIS_URL.',
  }),
  ...TELEMETRY_VARIABLES,
  LOG_LEVEL: oneOf({
    words: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    help: 'Minimum log level.',
  }),
} satisfies Record<string, Variable<unknown>>

export type VariableName = keyof typeof VARIABLES
