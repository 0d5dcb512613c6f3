import { join } from 'node:path'
import type { Config } from '../../config/load.ts'
import { normalPrefix } from '../adapters/bucket/s3/root.ts'
import type { S3BucketOptions } from '../adapters/bucket/s3/s3.ts'
import type { Rate } from '../adapters/rate-limiter/limits.ts'
import { mergedCacheSettings } from '../core/caching/cache-settings.ts'
import type { Root } from '../core/clients/client-storage.ts'
import type { LimitName } from '../core/clients/limit-names.ts'
import { parseCidr } from '../core/net/ip-ranges.ts'
import { type CachingOptions, isTagKind } from '../http/caching/caching.ts'
import type { CompatOptions } from '../http/compat/endpoints.ts'
import { bucketRedirect } from '../http/elsewhere/bucket-redirect.ts'
import type { ElsewhereOptions } from '../http/elsewhere/elsewhere.ts'
import { frontServer } from '../http/elsewhere/front-server.ts'

/** The credentials for S3. When undefined, the SDK finds them, in its files or in the role of the machine. */
function credentials(config: Config) {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = config
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) return undefined
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
  }
}

/** The connection of the installation's bucket. */
export function s3Options(bucket: string, config: Config): S3BucketOptions {
  return {
    bucket,
    prefix: config.S3_PREFIX ?? '',
    publicUrl: config.S3_PUBLIC_URL,
    directEndpoint: config.S3_DIRECT_ENDPOINT,
    forcePathStyle: config.S3_FORCE_PATH_STYLE === 'true',
    endpoint: config.AWS_ENDPOINT_URL_S3,
    region: config.AWS_REGION,
    credentials: credentials(config),
    silenceMs: config.S3_TIMEOUT_MS,
  }
}

/** The configured rate of each limit. */
export function rateOf(config: Config): (limited: LimitName) => Rate {
  return (limited) => {
    const name = limited.toUpperCase() as Uppercase<LimitName>
    return {
      points: config[`${name}_RATE_LIMIT`],
      addressPoints: config[`${name}_RATE_LIMIT_PER_IP`],
      seconds: config[`${name}_RATE_WINDOW_SECONDS`],
    }
  }
}

/** Whether metrics can be read at all. Otherwise they are not collected. */
export function isWatched({ METRICS_TOKEN, METRICS_PORT }: Config): boolean {
  return METRICS_TOKEN !== undefined || METRICS_PORT !== undefined
}

/** The secrets that the log must not show. */
export function secretsOf(
  { METRICS_TOKEN, ADMIN_PASSWORD, OIDC_CLIENT_SECRET }: Config,
  { secretClientToken }: { secretClientToken: string },
): string[] {
  return [secretClientToken, METRICS_TOKEN, ADMIN_PASSWORD, OIDC_CLIENT_SECRET].filter(
    (secret) => secret !== undefined,
  )
}

/** The settings of the HTTP layer that are variables themselves. */
export function httpSettings(config: Config) {
  return {
    trustProxy: config.TRUST_PROXY,
    fullContentRange: config.FULL_CONTENT_RANGE,
    maxFiles: config.UPLOAD_MAX_FILES,
    minBytesPerSecond: config.UPLOAD_MIN_BYTES_PER_SECOND,
    responsesPerAddress: config.CONNECTIONS_PER_ADDRESS,
    minReadBytesPerSecond: config.DOWNLOAD_MIN_BYTES_PER_SECOND,
    compat: compatOptions(config),
    allowed: {
      console: config.CONSOLE_ALLOW?.map(parseCidr),
      secrets: config.SECRETS_ALLOW?.map(parseCidr),
    },
    corsOrigins: config.CORS_ORIGINS ?? [],
    cachingOptions: cachingOptions(config),
    ...elsewhere(config),
  }
}

/** How long caches may store public files. */
function cachingOptions(config: Config): CachingOptions {
  return {
    settings: mergedCacheSettings({
      browserCacheSeconds: config.BROWSER_CACHE_SECONDS,
      ...(config.CDN_CACHE_SECONDS === undefined ? {} : { cdnCacheSeconds: config.CDN_CACHE_SECONDS }),
      staleWhileRevalidateSeconds: config.STALE_WHILE_REVALIDATE_SECONDS,
      staleIfErrorSeconds: config.STALE_IF_ERROR_SECONDS,
    }),
    cdnHeader: CDN_HEADERS[config.CDN_CACHE_HEADER],
    tags: (config.CDN_TAGS ?? []).filter(isTagKind),
  }
}

const CDN_HEADERS = {
  's-maxage': 's-maxage',
  'cdn-cache-control': 'CDN-Cache-Control',
  'surrogate-control': 'Surrogate-Control',
} as const

/** Who sends the bytes of stored files, if not this service. */
function elsewhere({
  ACCEL_REDIRECT: form,
  DELIVERY_REDIRECT_BYTES: minBytes,
  DATA_DIR,
  FULL_CONTENT_RANGE,
}: Config): ElsewhereOptions {
  const onlyForRanges = FULL_CONTENT_RANGE === 'always'
  return {
    ...(form === undefined
      ? {}
      : { front: frontServer(form, { folder: join(DATA_DIR, 'bucket'), onlyForRanges }) }),
    ...(minBytes === undefined ? {} : { redirect: bucketRedirect(minBytes) }),
  }
}

/** The other services whose URLs are delivered. */
function compatOptions(config: Config): CompatOptions {
  const { COMPAT_IMGPROXY_KEY: key, COMPAT_IMGPROXY_SALT: salt } = config
  return {
    services: config.COMPAT ?? [],
    cloudinarySecret: config.COMPAT_CLOUDINARY_SECRET,
    openinarySecret: config.COMPAT_OPENINARY_SECRET,
    imgproxyKeys: key === undefined || salt === undefined ? undefined : { key, salt },
  }
}

/** The bucket of the installation. When the SDK finds the endpoint itself, it is unknown here. */
export function installationRoot(config: Config): Root | undefined {
  const { S3_BUCKET: bucket, S3_PREFIX = '', AWS_ENDPOINT_URL_S3: endpoint } = config
  return bucket === undefined ? undefined : { endpoint, bucket, prefix: normalPrefix(S3_PREFIX) }
}
