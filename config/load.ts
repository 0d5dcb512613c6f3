import { aliasErrors, readByName } from './aliases.ts'
import { type MachineLimits, machineLimits, memoryDefault } from './machine.ts'
import { profileDefault } from './memory-profile.ts'
import { VARIABLES, type VariableName } from './schema.ts'
import { signInContradictions } from './sign-in.ts'
import type { Defaulted, Environment, Variable } from './variable.ts'
import { configWarnings } from './warnings.ts'

type ValueOf<V> = V extends Variable<infer T> ? T : never

// The default of BASE_URL depends on the actual port.
type Present = Exclude<
  { [N in VariableName]: (typeof VARIABLES)[N] extends Defaulted<unknown> ? N : never }[VariableName],
  'BASE_URL'
>

/** The value of every variable by its name. Frozen. */
export type Config = Readonly<
  { [N in Present]: ValueOf<(typeof VARIABLES)[N]> } & {
    [N in Exclude<VariableName, Present>]?: ValueOf<(typeof VARIABLES)[N]>
  }
>

/** All invalid values in the environment, one per line. */
export class ConfigError extends Error {
  constructor(lines: readonly string[]) {
    super(lines.join('\n'))
    this.name = 'ConfigError'
  }
}

/**
 * Reads the environment, by the names of the variables or their former names. An empty value means unset.
 *
 * @param limits of the container, which lower the defaults of memory limits
 * @throws ConfigError with every invalid value
 */
export function loadConfig(
  environment: Environment = process.env,
  limits: MachineLimits = machineLimits(),
): Config {
  const values: Record<string, unknown> = {}
  const errors: string[] = []
  const profile = VARIABLES.MEMORY_PROFILE.read(environment.MEMORY_PROFILE ?? '') ?? 'standard'
  for (const [name, variable] of Object.entries(VARIABLES) as Array<[VariableName, Variable<unknown>]>) {
    const received = readByName(environment, name)
    const text =
      received?.text ?? profileDefault(name, profile) ?? (name === 'BASE_URL' ? undefined : variable.default)
    if (text === undefined) continue
    const value = variable.read(text)
    if (value === undefined) {
      const shown = variable.secret
        ? `a value of ${text.length} characters`
        : JSON.stringify(text.replace(/\/\/.*@/, '//…@'))
      errors.push(`${received?.name ?? name}: expected ${variable.expected}, received ${shown}`)
    } else {
      values[name] = received ? value : forMachine(name, value, limits)
    }
  }
  errors.push(...aliasErrors(environment), ...contradictions(environment, values))
  // A missing secret alone is no error yet: chain.json may have it, and is read and checked later.
  if (errors.length > 0 && environment.WEBHOOK_URL && !environment.WEBHOOK_SECRET)
    errors.push('WEBHOOK_SECRET: required with WEBHOOK_URL, but unset')
  // A variable may be missing because its name is misspelt.
  if (errors.length > 0) throw new ConfigError([...errors, ...configWarnings(environment)])
  return Object.freeze(values) as Config
}

// The smallest value of both variables.
const MIN_MEMORY_BYTES = 200_000_000
const MEMORY_LIMITS: ReadonlySet<string> = new Set(['TRANSFORM_MAX_MEMORY_BYTES', 'MEDIA_MAX_MEMORY_BYTES'])

/** The default of a variable in this container. */
function forMachine(name: string, value: unknown, limits: MachineLimits): unknown {
  if (!MEMORY_LIMITS.has(name)) return value
  return memoryDefault({ min: MIN_MEMORY_BYTES, most: Number(value) }, limits)
}

// The largest object of S3, which clients can send straight to the bucket.
const S3_MAX_BYTES = 5 * 1024 ** 4
// S3 accepts 10,000 parts, and those of a stream of unknown length have 8 MiB: more would take more memory for each upload.
const S3_STREAMED_MAX_BYTES = 10_000 * 8 * 1024 ** 2

/** The maximum size of a file whose bytes pass through the service, in bytes. */
export function streamedMaxBytes({
  S3_BUCKET,
  UPLOAD_MAX_BYTES,
}: Pick<Config, 'S3_BUCKET' | 'UPLOAD_MAX_BYTES'>): number {
  return S3_BUCKET ? Math.min(UPLOAD_MAX_BYTES, S3_STREAMED_MAX_BYTES) : UPLOAD_MAX_BYTES
}

/** Valid values that contradict each other. */
function contradictions(given: Environment, values: Record<string, unknown>): string[] {
  const lines: string[] = []
  for (const pair of [
    ['CLIENT_TOKEN', 'SECRET_CLIENT_TOKEN'],
    ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
    ['COMPAT_IMGPROXY_KEY', 'COMPAT_IMGPROXY_SALT'],
  ]) {
    if (pair.filter((name) => given[name]).length === 1)
      lines.push(`${pair.join(' and ')}: set both or neither of them`)
  }
  for (const name of ['S3_PREFIX', 'S3_PUBLIC_URL', 'S3_DIRECT_ENDPOINT']) {
    if (given[name] && !given.S3_BUCKET) lines.push(`${name}: requires S3_BUCKET, which is unset`)
  }
  if (given.S3_BUCKET && given.ACCEL_REDIRECT)
    lines.push(
      'ACCEL_REDIRECT: only for files in DATA_DIR, but S3_BUCKET is set. Use DELIVERY_REDIRECT_BYTES',
    )
  if (given.S3_BUCKET && Number(values.UPLOAD_MAX_BYTES) > S3_MAX_BYTES)
    lines.push(
      `UPLOAD_MAX_BYTES: expected at most ${S3_MAX_BYTES}, the maximum of S3, received ${values.UPLOAD_MAX_BYTES}`,
    )
  if (Number(values.WEB_CONCURRENCY) > 1 && !given.REDIS_URL)
    lines.push(
      `WEB_CONCURRENCY: more than 1 requires REDIS_URL, which is unset, received ${values.WEB_CONCURRENCY}`,
    )
  if (given.REDIS_URL && !given.CLIENT_TOKEN && !given.SECRET_CLIENT_TOKEN)
    lines.push(
      'CLIENT_TOKEN and SECRET_CLIENT_TOKEN: required with REDIS_URL, the same for all processes, but unset',
    )
  if (given.REDIS_URL && !given.APP_SECRET)
    lines.push('APP_SECRET: required with REDIS_URL, the same for all processes, but unset')
  return [...lines, ...signInContradictions(given)]
}

/** Name, default, accepted values and description of every variable, for `--help` and docs/reference/configuration.md. */
export function describeVariables(): ReadonlyArray<{
  name: string
  default: string
  expected: string
  help: string
}> {
  return Object.entries(VARIABLES as Record<string, Variable<unknown>>).map(([name, variable]) => ({
    name,
    default: variable.default ?? '',
    expected: variable.expected,
    help: variable.help,
  }))
}
