import { readBaseUrl, readRedisUrl } from './address.ts'
import { integer, oneOf, text } from './variable.ts'

/** Storage of files, index and credentials. */
export const STORAGE_VARIABLES = {
  DATA_DIR: text({
    pattern: /^[^\0]+$/,
    expected: 'a path',
    default: './data',
    help: 'Folder for what is in neither S3 nor Redis, and for credentials; belongs to one process unless there is REDIS_URL',
  }),
  DISK_RESERVE_BYTES: integer({
    min: 0,
    max: 1024 ** 3,
    unit: 'bytes',
    default: 32 * 1024 ** 2,
    help: 'Size of the file DATA_DIR/reserve, which shrinks on a full disk so that deletes and a restart work; 0 is no reserve. Unused with REDIS_URL',
  }),
  S3_BUCKET: text({
    pattern: /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
    expected: "a bucket's name",
    help: 'Keeps files in this bucket of S3, or of a compatible store, instead of DATA_DIR',
  }),
  S3_PREFIX: text({
    pattern: /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w./-]{1,200}$/,
    expected: 'folders of letters, digits, "_", "-" and ".", with "/" between',
    help: 'Folder of S3_BUCKET that is used; all of it when absent',
  }),
  S3_PUBLIC_URL: {
    help: 'Address under which the bucket can be read, of a CDN for example; its own in S3 when absent',
    expected: 'an http or https URL without query',
    read: readBaseUrl,
  },
  S3_FORCE_PATH_STYLE: oneOf({
    words: ['false', 'true'],
    default: 'false',
    help: 'Puts the bucket in the path of requests instead of the host name; many compatible stores want it',
  }),
  AWS_REGION: text({
    pattern: /^[a-z0-9-]{1,64}$/,
    expected: 'a region',
    help: "The bucket's region; from the AWS SDK's files when absent",
  }),
  AWS_ENDPOINT_URL_S3: {
    help: 'Address of a compatible store; that of Amazon in AWS_REGION when absent',
    expected: 'an http or https URL without query',
    read: readBaseUrl,
  },
  AWS_ACCESS_KEY_ID: text({
    pattern: /^[\x21-\x7e]{1,128}$/,
    expected: 'an access key',
    help: "Key for S3; from the AWS SDK's files or the machine's role when absent",
  }),
  AWS_SECRET_ACCESS_KEY: text({
    pattern: /^[\x21-\x7e]{1,128}$/,
    expected: 'the secret of the access key',
    secret: true,
    help: 'Goes with AWS_ACCESS_KEY_ID',
  }),
  AWS_SESSION_TOKEN: text({
    pattern: /^[\x21-\x7e]+$/,
    expected: 'a session token',
    secret: true,
    help: 'Goes with a temporary AWS_ACCESS_KEY_ID',
  }),
  REDIS_URL: {
    help: 'Keeps index, locks, jobs and rate limits in Redis instead of DATA_DIR, so that several processes can share them',
    expected: 'redis://[user:password@]host[:port][/database], or rediss:// for TLS',
    secret: true,
    read: readRedisUrl,
  },
  REDIS_TLS_VERIFY: oneOf({
    words: ['true', 'false'],
    default: 'true',
    help: "Whether the certificate of a rediss:// server must be signed by a known authority; Heroku's is not",
  }),
}
