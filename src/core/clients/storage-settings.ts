import { z } from 'zod'
import { plainHttpUrl } from '../net/http-url.ts'
import { badParameter } from '../problem.ts'
import type { StorageConnection } from './client-storage.ts'

/** One setting of a client's own bucket. */
interface Setting<T> {
  /** The schema of the value that an operator enters. Its messages are the expected type. */
  given: z.ZodType<T>
  /** The schema of the value in the client's record; absent for the secret, which is sealed. */
  stored?: z.ZodType
  /** The option of `sluice client create` and `sluice client storage`, and its description. */
  flags?: string
  help?: string
  /** The value when the operator enters none. It is not validated. */
  fallback?(region: string): T
  /** Validates and normalizes a value. @throws Problem 400 */
  checked?(received: NonNullable<T>, param: string): T
}

/** Names of buckets in S3. */
export const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
/** Regions of S3. */
export const REGION = /^[a-z0-9-]{1,64}$/
/** Access keys of S3, and their secrets. */
export const ACCESS_KEY = /^[\x21-\x7e]{1,128}$/
// Like that of S3_PREFIX, but it may be empty.
const PREFIX = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w./-]{0,200}$/
const DEFAULT_REGION = 'us-east-1'

const string = z.string('a string')

/** The settings of a client's own bucket. Records, requests and commands are derived from this table. */
const STORAGE_SETTINGS = {
  bucket: {
    given: string,
    stored: z.string(),
    flags: '--bucket <bucket>',
    help: 'bucket in S3 or a compatible store',
    checked: matching(BUCKET_NAME, "a bucket's name"),
  },
  accessKeyId: {
    given: string,
    stored: z.string(),
    flags: '--access-key-id <key>',
    help: 'access key ID; its secret is read as described below',
    checked: matching(ACCESS_KEY, 'an access key'),
  },
  secretAccessKey: {
    given: string,
    checked(secret: string, param: string) {
      if (ACCESS_KEY.test(secret)) return secret
      const expected = '1 to 128 printable characters without spaces'
      throw badParameter({ param, expected, received: `${secret.length} characters` })
    },
  },
  /** Endpoint of an S3-compatible store. Default: that of Amazon in the region. */
  endpoint: {
    given: string.optional(),
    stored: z.string(),
    flags: '--endpoint <url>',
    help: "endpoint of a compatible store; Amazon's when unset",
    // Without an explicit endpoint, the SDK would use the environment, which is for the installation's bucket.
    fallback: (region: string) =>
      `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`,
    checked(received: string, param: string) {
      const url = urlOf(received)
      if (url?.pathname === '/') return url.origin
      throw badParameter({ param, expected: 'an http or https URL of scheme, host and port', received })
    },
  },
  region: {
    given: string.optional(),
    stored: z.string(),
    flags: '--region <region>',
    help: 'region of the bucket; us-east-1 when unset',
    fallback: () => DEFAULT_REGION,
    checked: matching(REGION, 'a region'),
  },
  prefix: {
    given: string.optional(),
    stored: z.string(),
    flags: '--prefix <folder>',
    help: 'folder of the bucket; the whole bucket when unset',
    fallback: () => '',
    checked(received: string, param: string) {
      const expected =
        'at most 200 characters: folders of letters, digits, "_", "-" and ".", separated by "/"'
      const folders = matching(PREFIX, expected)(received, param).split('/').filter(Boolean)
      return folders.map((folder) => `${folder}/`).join('')
    },
  },
  forcePathStyle: {
    given: z.boolean('true or false').optional(),
    stored: z.boolean(),
    flags: '--path-style',
    help: 'put the bucket in the path instead of the host name; many compatible stores need this',
    fallback: () => false,
  },
  publicUrl: {
    given: string.optional(),
    stored: z.string().optional(),
    flags: '--public-url <url>',
    help: 'public URL of the bucket, for example of a CDN',
    checked(received: string, param: string) {
      const url = urlOf(received)
      if (url) return url.href.replace(/\/+$/, '')
      throw badParameter({ param, expected: 'an http or https URL without query', received })
    },
  },
} satisfies Record<string, Setting<string | boolean | undefined>>

type Table = typeof STORAGE_SETTINGS
export type SettingName = keyof Table

/** The own bucket of a client, as an operator enters it. */
export type StorageSettings = z.output<z.ZodObject<{ [N in SettingName]: Table[N]['given'] }>>

/** Complete, validated and normalized settings. */
export interface CheckedSettings extends StorageConnection {
  secretAccessKey: string
}

const SETTINGS: ReadonlyArray<[SettingName, Setting<unknown>]> = Object.entries(STORAGE_SETTINGS) as never

export const SETTING_NAMES = SETTINGS.map(([name]) => name)

/** The options of commands, by the name of the setting. */
export const SETTING_OPTIONS = SETTINGS.flatMap(([name, { flags, help = '' }]) =>
  flags === undefined ? [] : [{ name, flags, help }],
)

/** The members of a request with settings. */
export const GIVEN_SETTINGS = Object.fromEntries(SETTINGS.map(([name, { given }]) => [name, given])) as {
  [N in SettingName]: Table[N]['given']
}

/** The members of a client's record for its bucket, without the secret. */
export const STORED_SETTINGS: Record<string, z.ZodType> = Object.fromEntries(
  SETTINGS.flatMap(([name, { stored }]) => (stored ? [[name, stored]] : [])),
)

/** Validates and normalizes settings. @throws Problem 400, which never contains the secret */
export function checkedSettings(settings: StorageSettings): CheckedSettings {
  const checked = SETTINGS.map(([name, setting]) => {
    const received = settings[name]
    if (received === undefined) return [name, setting.fallback?.(settings.region ?? DEFAULT_REGION)]
    return [name, setting.checked ? setting.checked(received, name) : received]
  })
  return Object.fromEntries(checked.filter(([, value]) => value !== undefined))
}

function matching(pattern: RegExp, expected: string) {
  return (received: string, param: string): string => {
    if (pattern.test(received)) return received
    throw badParameter({ param, expected, received })
  }
}

function urlOf(text: string): URL | undefined {
  return text.length > 1000 ? undefined : plainHttpUrl(text)
}
