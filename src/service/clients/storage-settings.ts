import type { StorageConnection } from '../../core/clients/client-storage.ts'
import { badParameter } from '../../core/problem.ts'

/** The own bucket of a client, as an operator enters it. */
export interface StorageSettings {
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  /** Endpoint of an S3-compatible store. Default: that of Amazon in the region. */
  endpoint?: string | undefined
  region?: string | undefined
  prefix?: string | undefined
  forcePathStyle?: boolean | undefined
  publicUrl?: string | undefined
}

/** Complete, validated and normalized settings. */
export interface CheckedSettings extends StorageConnection {
  secretAccessKey: string
}

// The same patterns as for S3_BUCKET, S3_PREFIX, AWS_REGION and the keys in config/storage.ts.
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const PREFIX = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w./-]{0,200}$/
const REGION = /^[a-z0-9-]{1,64}$/
const KEY = /^[\x21-\x7e]{1,128}$/
const DEFAULT_REGION = 'us-east-1'

/** Validates and normalizes settings. @throws Problem 400, which never contains the secret */
export function checkedSettings(settings: StorageSettings): CheckedSettings {
  const {
    bucket,
    accessKeyId,
    secretAccessKey,
    region = DEFAULT_REGION,
    prefix = '',
    forcePathStyle = false,
  } = settings
  expectMatch(bucket, { param: 'bucket', pattern: BUCKET, expected: "a bucket's name" })
  expectMatch(region, { param: 'region', pattern: REGION, expected: 'a region' })
  const expected = 'at most 200 characters: folders of letters, digits, "_", "-" and ".", with "/" between,'
  expectMatch(prefix, { param: 'prefix', pattern: PREFIX, expected })
  expectMatch(accessKeyId, { param: 'accessKeyId', pattern: KEY, expected: 'an access key' })
  if (!KEY.test(secretAccessKey))
    throw badParameter({
      param: 'secretAccessKey',
      expected: '1 to 128 printable characters without spaces',
      received: `${secretAccessKey.length} characters`,
    })
  const publicUrl = settings.publicUrl === undefined ? undefined : checkedUrl(settings.publicUrl)
  return {
    endpoint: settings.endpoint === undefined ? amazon(region) : checkedEndpoint(settings.endpoint),
    region,
    bucket,
    prefix: prefix
      .split('/')
      .filter((segment) => segment !== '')
      .map((segment) => `${segment}/`)
      .join(''),
    forcePathStyle,
    accessKeyId,
    secretAccessKey,
    ...(publicUrl === undefined ? {} : { publicUrl }),
  }
}

/**
 * The endpoint of Amazon. Without an explicit one, the SDK would use the environment, which is for the installation's
 * bucket.
 */
function amazon(region: string): string {
  return `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}

function checkedEndpoint(received: string): string {
  const url = urlOf(received)
  if (url && url.pathname === '/') return url.origin
  throw badParameter({
    param: 'endpoint',
    expected: 'an http or https URL of scheme, host and port',
    received,
  })
}

function checkedUrl(received: string): string {
  const url = urlOf(received)
  if (url) return url.href.replace(/\/+$/, '')
  throw badParameter({ param: 'publicUrl', expected: 'an http or https URL without query', received })
}

/** Undefined for an invalid URL, and for one with credentials, query or fragment. */
function urlOf(text: string): URL | undefined {
  if (text.length > 1000 || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return isPlain && /^https?:$/.test(url.protocol) ? url : undefined
}

function expectMatch(
  received: string,
  { param, pattern, expected }: { param: string; pattern: RegExp; expected: string },
): void {
  if (!pattern.test(received)) throw badParameter({ param, expected, received })
}
