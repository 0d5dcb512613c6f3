import { ACCESS_KEY, BUCKET_NAME, REGION } from '../src/core/clients/storage-settings.ts'
import { parseRedisUrl, REDIS_URL_FORMS } from '../src/core/net/redis-url.ts'
import { readBaseUrl } from './address.ts'
import { integer, listOf, oneOf, text } from './variable.ts'

/** A folder that is not the service's own. A slash at its end is optional. */
function isFolder(text: string): boolean {
  const [first, ...rest] = text.replace(/\/$/, '').split('/')
  return (
    first?.toLowerCase() !== '.sluice' &&
    [first, ...rest].every((segment) => !['', '.', '..'].includes(segment ?? '')) &&
    !/[\\?#\p{Cc}]/u.test(text)
  )
}

/** Storage of the files and of the index. */
export const STORAGE_VARIABLES = {
  DATA_DIR: text({
    pattern: /^[^\0]+$/,
    expected: 'a path',
    default: './data',
    help: 'Folder for credentials, and for everything that is in neither S3 nor Redis. Without REDIS_URL, only one process can use it.',
  }),
  DISK_RESERVE_BYTES: integer({
    min: 0,
    max: 1024 ** 3,
    unit: 'bytes',
    default: 32 * 1024 ** 2,
    help: 'Size of the file DATA_DIR/reserve. On a full disk the file shrinks, so that deletes and a restart succeed. 0: no reserve. Unused with REDIS_URL.',
  }),
  S3_BUCKET: text({
    pattern: BUCKET_NAME,
    expected: 'the name of a bucket',
    help: 'Bucket in S3 or a compatible store that stores the files. Files are stored in DATA_DIR when unset.',
  }),
  S3_PREFIX: text({
    pattern: /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w./-]{1,200}$/,
    expected: 'folders of letters, digits, "_", "-" and ".", separated by "/"',
    help: 'Folder of S3_BUCKET to use. The whole bucket when unset.',
  }),
  FOREIGN_PREFIXES: listOf({
    item: isFolder,
    separator: /\s*,\s*/,
    expected: 'folders of the bucket like legacy/photos, separated by commas',
    help: 'Folders of the bucket with objects of other systems, relative to the root of each client. Sluice delivers and transforms these objects, and never changes them. Disabled when unset.',
  }),
  S3_PUBLIC_URL: {
    help: 'Public URL of the bucket, for example of a CDN. The URL of the bucket in S3 when unset.',
    expected: 'an http or https URL without query',
    read: readBaseUrl,
  },
  S3_DIRECT_ENDPOINT: {
    help: 'Endpoint of S3 for clients that upload straight into the bucket, if they reach it by another URL than Sluice. AWS_ENDPOINT_URL_S3 when unset: then the client library uploads there only on request, except to Amazon S3.',
    expected: 'an http or https URL without query',
    read: readBaseUrl,
  },
  S3_FORCE_PATH_STYLE: oneOf({
    words: ['false', 'true'],
    default: 'false',
    help: 'Whether requests have the bucket in the path instead of the host name. Many compatible stores need true.',
  }),
  S3_TIMEOUT_MS: integer({
    min: 1000,
    // The change of a record, which needs several requests, may take 15 s.
    max: 15_000,
    unit: 'milliseconds',
    default: 3500,
    help: 'Time without a response or progress after which a request to S3 fails with 503. Raise it for a slow store or network.',
  }),
  AWS_REGION: text({
    pattern: REGION,
    expected: 'a region',
    help: 'Region of the bucket. From the files of the AWS SDK when unset.',
  }),
  AWS_ENDPOINT_URL_S3: {
    help: 'Endpoint of a compatible store. The endpoint of Amazon in AWS_REGION when unset.',
    expected: 'an http or https URL without query',
    read: readBaseUrl,
  },
  AWS_ACCESS_KEY_ID: text({
    pattern: ACCESS_KEY,
    expected: 'an access key',
    help: "Access key for S3. From the files of the AWS SDK or the machine's role when unset.",
  }),
  AWS_SECRET_ACCESS_KEY: text({
    pattern: ACCESS_KEY,
    expected: 'the secret of the access key',
    secret: true,
    help: 'Secret of AWS_ACCESS_KEY_ID.',
  }),
  AWS_SESSION_TOKEN: text({
    pattern: /^[\x21-\x7e]+$/,
    expected: 'a session token',
    secret: true,
    help: 'Session token of a temporary AWS_ACCESS_KEY_ID.',
  }),
  REDIS_URL: {
    help: 'Redis, the Sentinels that know it, or a Redis Cluster, for index, locks, jobs and rate limits, shared by several processes. When unset, all of these are in DATA_DIR.',
    expected: REDIS_URL_FORMS,
    secret: true,
    read: (value: string) => (parseRedisUrl(value) ? value : undefined),
  },
  REDIS_TLS_VERIFY: oneOf({
    words: ['true', 'false'],
    default: 'true',
    help: "Whether the certificate of a Redis server with TLS (rediss…) must be signed by a known authority. Heroku's is not.",
  }),
  INDEX_PARTITIONS: oneOf({
    words: ['1', '64'],
    default: '1',
    help: 'Number of partitions for the files of a new client in a Redis Cluster. 1: lists ask one node. 64: all nodes share memory and work.',
  }),
}
