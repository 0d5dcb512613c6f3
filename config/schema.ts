import { isEndpoint, isPort, isRange, readBaseUrl, readProxies } from './address.ts'
import { DERIVATIVE_VARIABLES } from './derivatives.ts'
import { RATE_VARIABLES } from './rates.ts'
import { STORAGE_VARIABLES } from './storage.ts'
import { TRANSFORMATION_VARIABLES } from './transformations.ts'
import { integer, listOf, oneOf, text, type Variable } from './variable.ts'

const GIB = 1024 ** 3

/** Every environment variable of the service. Variables without a default may be unset. */
export const VARIABLES = {
  PORT: integer({ min: 0, max: 65535, default: 3000, help: 'Port to listen on; 0 takes a free one' }),
  HOST: text({
    pattern: /^[\w.:%-]+$/,
    expected: 'an address or host name',
    default: '0.0.0.0',
    help: 'Address to listen on',
  }),
  BASE_URL: {
    help: 'Address under which clients reach the service; used in the URLs of responses',
    expected: 'an http or https URL without query',
    default: 'http://localhost:<PORT>',
    read: readBaseUrl,
  },
  ...STORAGE_VARIABLES,
  CLIENT_TOKEN: text({
    pattern: /^[\w-]{8,128}$/,
    expected: '8 to 128 letters, digits, "-" or "_"',
    help: "The first client's public token, in URLs; made once and kept in DATA_DIR/credentials.json when absent",
  }),
  SECRET_CLIENT_TOKEN: text({
    pattern: /^[\x21-\x7e]{16,256}$/,
    expected: '16 to 256 printable characters without spaces',
    secret: true,
    help: "The first client's secret token, for the Authorization header; made once and kept in DATA_DIR/credentials.json when absent",
  }),
  APP_SECRET: text({
    pattern: /^[\x21-\x7e]{32,256}$/,
    expected: '32 to 256 printable characters without spaces',
    secret: true,
    help: 'Signs links and encrypts the credentials of buckets; made once and kept in DATA_DIR/app-secret when absent, the same for all processes beside REDIS_URL; part of every backup',
  }),
  ADMIN_PASSWORD: text({
    pattern: /^.{12,256}$/,
    expected: '12 to 256 characters',
    secret: true,
    help: 'Signs the operator in over HTTP; nobody can sign in when absent',
  }),
  TRUST_PROXY: {
    help: 'Proxies in front whose X-Forwarded-For tells the address of a caller; none when absent, so that nobody can forge it',
    expected:
      'how many there are, from 0 to 10, or their ranges like 10.0.0.0/8, with spaces or commas between',
    default: '0',
    read: readProxies,
  },
  UPLOAD_MAX_BYTES: integer({
    min: 1,
    unit: 'bytes',
    default: 5 * GIB,
    help: 'Largest file that is accepted',
  }),
  UPLOAD_MAX_FILES: integer({
    min: 1,
    max: 10_000,
    unit: 'files',
    default: 100,
    help: 'Files that one request may upload',
  }),
  TUS_EXPIRE_SECONDS: integer({
    min: 1,
    max: 31_536_000,
    unit: 'seconds',
    default: 86_400,
    help: 'Time from its beginning after which a resumable upload that is not complete is deleted',
  }),
  ...TRANSFORMATION_VARIABLES,
  UV_THREADPOOL_SIZE: integer({
    min: 1,
    max: 1024,
    unit: 'threads',
    default: 4,
    help: 'Threads for files and pictures, read by Node itself: transformations in the web process leave two of them to files. npm start makes it three more than there are cores',
  }),
  HEADERS_TIMEOUT_SECONDS: integer({
    min: 1,
    max: 3600,
    unit: 'seconds',
    // nginx and Node have 60 s; a browser sends its headers at once.
    default: 30,
    help: 'Time for the address and headers of a request',
  }),
  HEADERS_MAX_BYTES: integer({
    min: 4096,
    max: 1024 ** 2,
    unit: 'bytes',
    default: 16_384,
    help: 'Largest address and headers of a request, together',
  }),
  IDLE_TIMEOUT_SECONDS: integer({
    min: 1,
    max: 86_400,
    unit: 'seconds',
    // A transformation that waits for its turn transfers nothing, for a minute at most.
    default: 120,
    help: 'Time after which a connection is closed on which nothing moves in the middle of a request or its answer',
  }),
  BODY_MIN_BYTES_PER_SECOND: integer({
    min: 0,
    max: 1024 ** 2,
    unit: 'bytes',
    // The default of Kestrel: a modem of 2,400 baud.
    default: 240,
    help: 'Least pace of a body, on average after 5 s and while there is room for more of it; 0 refuses none',
  }),
  CONNECTIONS_PER_ADDRESS: integer({
    min: 0,
    max: 1_000_000,
    unit: 'requests',
    // An office of 85 browsers with six connections each, all of them in use at the same time.
    default: 512,
    help: 'Requests of one IP address that a process answers at the same time; further ones are a 429, 0 is no limit. Callers behind TRUST_PROXY are counted by their own address, and requests with the secret of a client separately',
  }),
  DOWNLOAD_MIN_BYTES_PER_SECOND: integer({
    min: 0,
    max: 1024 ** 2,
    unit: 'bytes',
    // A phone on EDGE reads some 4,000 bytes/s; audio of 16 kbit/s needs 2,000.
    default: 1024,
    help: 'Least pace at which a client must read a file or an archive, on average after a pause of 2 minutes. A slower client is disconnected; 0 disconnects none',
  }),
  KEEP_ALIVE_SECONDS: integer({
    min: 1,
    max: 3600,
    unit: 'seconds',
    // Load balancers in front have an idle timeout of 60 s. The load balancer should close the connection, not the
    // server.
    default: 75,
    help: 'Time for which a connection is kept for the next request; longer than a proxy in front keeps it',
  }),
  SHUTDOWN_DELAY_SECONDS: integer({
    min: 0,
    max: 600,
    unit: 'seconds',
    // Docker kills ten seconds after SIGTERM; load balancers usually check every two or three.
    default: 3,
    help: 'Time after SIGTERM in which /readyz is a 503 and requests are still accepted, so that a load balancer can stop sending them',
  }),
  ...RATE_VARIABLES,
  ...DERIVATIVE_VARIABLES,
  FETCH_TIMEOUT_SECONDS: integer({
    min: 1,
    max: 300,
    unit: 'seconds',
    default: 30,
    help: 'Time for fetching a picture of another server that is transformed on the fly',
  }),
  FETCH_STORE_TIMEOUT_SECONDS: integer({
    min: 1,
    max: 86_400,
    unit: 'seconds',
    // The client waits on an idle connection, which is closed after IDLE_TIMEOUT_SECONDS.
    default: 100,
    help: 'Time for fetching a file of another server that is stored; shorter than IDLE_TIMEOUT_SECONDS',
  }),
  FETCH_PORTS: listOf({
    item: isPort,
    expected: 'ports from 1 to 65535, with spaces or commas between',
    separator: /[\s,]+/,
    help: 'Ports of other servers from which files may be fetched, in addition to 80 and 443',
  }),
  FETCH_ALLOW_ADDRESSES: listOf({
    item: isRange,
    expected: 'ranges like 10.1.0.0/16 or fd00::/8, with spaces or commas between',
    separator: /[\s,]+/,
    help: 'Addresses that are not public and from which files may be fetched. Every caller that may fetch can then read what these servers deliver',
  }),
  PLUGINS_DIR: text({
    pattern: /^[^\0]+$/,
    expected: 'a path',
    help: 'One more folder of drop-in plugins (.js)',
  }),
  WEBHOOK_URL: listOf({
    item: isEndpoint,
    expected: 'http or https URLs without user name, with spaces between',
    secret: true,
    help: 'Who is told of events over HTTP, see docs/how-to/webhooks.md; needs WEBHOOK_SECRET',
  }),
  WEBHOOK_SECRET: listOf({
    item: isWebhookSecret,
    expected: 'whsec_ and 24 to 64 bytes in base64; several, with spaces between, during a change',
    secret: true,
    help: 'Signs webhooks; the receiver has the same',
  }),
  WEBHOOK_EVENTS: listOf({
    item: (text) => /^[a-z]+\.[a-z]+$/.test(text),
    expected: 'names of events, with spaces or commas between',
    separator: /[\s,]+/,
    help: 'Events that are told; all of them when absent',
  }),
  WEBHOOK_ALLOW_ADDRESSES: listOf({
    item: isRange,
    expected: 'ranges like 10.1.0.0/16 or fd00::/8, with spaces or commas between',
    separator: /[\s,]+/,
    help: 'Addresses that are not public and may be told of events all the same',
  }),
  FULL_CONTENT_RANGE: oneOf({
    words: ['auto', 'always', 'never'],
    default: 'auto',
    help: 'When a 200 carries "Content-Range: bytes 0 - <size>"; auto: unless a proxy is in between, or to aria2',
  }),
  WEB_CONCURRENCY: integer({
    min: 1,
    max: 64,
    unit: 'processes',
    default: 1,
    help: 'Web processes that share the port; more than one need REDIS_URL',
  }),
  METRICS_TOKEN: text({
    pattern: /^[\x21-\x7e]{16,256}$/,
    expected: '16 to 256 printable characters without spaces',
    secret: true,
    help: 'Who may read GET /metrics on PORT, as "Authorization: Bearer <token>"; no such address when absent',
  }),
  METRICS_PORT: integer({
    min: 0,
    max: 65535,
    help: 'Port of its own for GET /metrics, without a token; none when absent, 0 takes a free one',
  }),
  METRICS_HOST: text({
    pattern: /^[\w.:%-]+$/,
    expected: 'an address or host name',
    default: '127.0.0.1',
    help: 'Address to listen on at METRICS_PORT',
  }),
  LOG_LEVEL: oneOf({
    words: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    help: 'Least severe lines that are logged',
  }),
} satisfies Record<string, Variable<unknown>>

export type VariableName = keyof typeof VARIABLES

function isWebhookSecret(value: string): boolean {
  const bytes = Buffer.from(value.replace('whsec_', ''), 'base64').length
  return /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(value) && bytes >= 24 && bytes <= 64
}
