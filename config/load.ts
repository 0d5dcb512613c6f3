import { VARIABLES, type Variable, type VariableName } from './schema.ts'

type ValueOf<V> = V extends Variable<infer T> ? T : never

// Those without a default; BASE_URL follows from the port that is listened on in the end.
type Optional =
  | 'BASE_URL'
  | 'CLIENT_TOKEN'
  | 'SECRET_CLIENT_TOKEN'
  | 'PLUGINS_DIR'
  | Extract<VariableName, `WEBHOOK_${string}`>

/** Every variable's value, by its name. Frozen. */
export type Config = Readonly<
  { [N in Exclude<VariableName, Optional>]: ValueOf<(typeof VARIABLES)[N]> } & {
    [N in Optional]?: ValueOf<(typeof VARIABLES)[N]>
  }
>

/** Bad values in the environment: all of them, a line each. */
export class ConfigError extends Error {
  constructor(lines: readonly string[]) {
    super(lines.join('\n'))
    this.name = 'ConfigError'
  }
}

/**
 * Reads the environment. An empty value counts as absent.
 *
 * @throws ConfigError that names every bad value
 */
export function loadConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
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
        : JSON.stringify(text.replace(/\/\/[^@/]*@/, '//…@'))
      errors.push(`${name}: expected ${variable.expected}, received ${shown}`)
    } else {
      values[name] = value
    }
  }
  if (Boolean(environment.CLIENT_TOKEN) !== Boolean(environment.SECRET_CLIENT_TOKEN)) {
    errors.push('CLIENT_TOKEN and SECRET_CLIENT_TOKEN: expected both or none, received one')
  }
  for (const name of ['S3_BUCKET', 'REDIS_URL']) {
    if (environment[name])
      errors.push(
        `${name}: expected nothing, since this version keeps files and index in DATA_DIR only; unset it`,
      )
  }
  if (errors.length > 0) throw new ConfigError(errors)
  return Object.freeze(values) as Config
}

/** One row per variable: name, default, what is accepted, what it is for. For `--help` and the README. */
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
