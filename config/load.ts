import { VARIABLES, type VariableName } from './schema.ts'
import type { Variable } from './variable.ts'

type ValueOf<V> = V extends Variable<infer T> ? T : never

// Variables without a default. BASE_URL defaults to the port that the server gets.
type Optional =
  | 'BASE_URL'
  | 'CLIENT_TOKEN'
  | 'SECRET_CLIENT_TOKEN'
  | 'APP_SECRET'
  | 'ADMIN_PASSWORD'
  | 'PLUGINS_DIR'
  | 'S3_BUCKET'
  | 'S3_PREFIX'
  | 'S3_PUBLIC_URL'
  | 'REDIS_URL'
  | 'METRICS_TOKEN'
  | 'METRICS_PORT'
  | 'FETCH_PORTS'
  | 'FETCH_ALLOW_ADDRESSES'
  | Extract<VariableName, `AWS_${string}` | `WEBHOOK_${string}`>

/** The value of every variable, by its name. Frozen. */
export type Config = Readonly<
  { [N in Exclude<VariableName, Optional>]: ValueOf<(typeof VARIABLES)[N]> } & {
    [N in Optional]?: ValueOf<(typeof VARIABLES)[N]>
  }
>

/** Variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Invalid values in the environment. The message lists all of them, one per line. */
export class ConfigError extends Error {
  constructor(lines: readonly string[]) {
    super(lines.join('\n'))
    this.name = 'ConfigError'
  }
}

/**
 * Reads the environment. An empty value counts as unset.
 *
 * @throws ConfigError that names every invalid value
 */
export function loadConfig(environment: Environment = process.env): Config {
  const values: Record<string, unknown> = {}
  const errors: string[] = []
  for (const [name, variable] of Object.entries(VARIABLES) as Array<[VariableName, Variable<unknown>]>) {
    const received = environment[name]
    const text = received || (name === 'BASE_URL' ? undefined : variable.default)
    if (text === undefined) continue
    const value = variable.read(text)
    if (value === undefined) {
      const shown = variable.secret
        ? `a value of ${text.length} characters`
        : JSON.stringify(text.replace(/\/\/.*@/, '//…@'))
      errors.push(`${name}: expected ${variable.expected}, received ${shown}`)
    } else {
      values[name] = value
    }
  }
  errors.push(...contradictions(environment, values))
  // A missing secret alone is not an error yet: chain.json, which is checked later, may have it.
  if (errors.length > 0 && environment.WEBHOOK_URL && !environment.WEBHOOK_SECRET)
    errors.push('WEBHOOK_SECRET: expected beside WEBHOOK_URL, received none')
  if (errors.length > 0) throw new ConfigError(errors)
  return Object.freeze(values) as Config
}

// S3 accepts 10,000 parts, and ours have 8 MiB.
const S3_MAX_BYTES = 10_000 * 8 * 1024 ** 2

/** Returns the errors between values that are valid on their own. */
function contradictions(given: Environment, values: Record<string, unknown>): string[] {
  const lines: string[] = []
  for (const pair of [
    ['CLIENT_TOKEN', 'SECRET_CLIENT_TOKEN'],
    ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
  ]) {
    if (pair.filter((name) => given[name]).length === 1)
      lines.push(`${pair.join(' and ')}: expected both or none, received one`)
  }
  for (const name of ['S3_PREFIX', 'S3_PUBLIC_URL']) {
    if (given[name] && !given.S3_BUCKET) lines.push(`${name}: expected S3_BUCKET beside it, received none`)
  }
  if (given.S3_BUCKET && Number(values.UPLOAD_MAX_BYTES) > S3_MAX_BYTES)
    lines.push(
      `UPLOAD_MAX_BYTES: expected at most ${S3_MAX_BYTES}, which is what S3 takes, received ${values.UPLOAD_MAX_BYTES}`,
    )
  if (Number(values.WEB_CONCURRENCY) > 1 && !given.REDIS_URL)
    lines.push(
      `WEB_CONCURRENCY: expected 1, since without REDIS_URL index and rate limits belong to one process, received ${values.WEB_CONCURRENCY}`,
    )
  if (given.REDIS_URL && !given.CLIENT_TOKEN && !given.SECRET_CLIENT_TOKEN)
    lines.push(
      'CLIENT_TOKEN and SECRET_CLIENT_TOKEN: expected both beside REDIS_URL, since all processes share them, received none',
    )
  if (given.REDIS_URL && !given.APP_SECRET)
    lines.push('APP_SECRET: expected beside REDIS_URL, since all processes share it, received none')
  return lines
}

/**
 * Describes every variable: name, default, accepted values, purpose. For `--help` and
 * docs/reference/configuration.md.
 */
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
