import type { Environment } from './variable.ts'

/** The former name of a variable. */
interface Alias {
  readonly name: string
  readonly formerly: string
  /** Whether the former name remains valid without a warning. */
  readonly isPermanent?: boolean
}

const RATE_LIMITS = ['UPLOAD', 'DERIVATIVE', 'CPU', 'FETCH', 'MEDIA', 'SIGN', 'ZIP', 'SIGN_IN']

/** All variables with a former name. */
export const ALIASES: readonly Alias[] = [
  { name: 'TRANSFORM_KILL_SECONDS', formerly: 'TRANSFORM_HANG_SECONDS' },
  { name: 'MEDIA_JOBS_RUN_IN', formerly: 'MEDIA_JOBS_IN' },
  { name: 'RESUMABLE_UPLOAD_TTL_SECONDS', formerly: 'TUS_EXPIRE_SECONDS' },
  { name: 'FETCH_KEEP_TIMEOUT_SECONDS', formerly: 'FETCH_STORE_TIMEOUT_SECONDS' },
  { name: 'UPLOAD_MIN_BYTES_PER_SECOND', formerly: 'BODY_MIN_BYTES_PER_SECOND' },
  ...RATE_LIMITS.flatMap((limit) => [
    // Other programs rely on the former names of the ZIP limit.
    { name: `${limit}_RATE_LIMIT`, formerly: `${limit}_RATE_POINTS`, isPermanent: limit === 'ZIP' },
    {
      name: `${limit}_RATE_LIMIT_PER_IP`,
      formerly: `${limit}_RATE_ADDRESS_POINTS`,
      isPermanent: limit === 'ZIP',
    },
    { name: `${limit}_RATE_WINDOW_SECONDS`, formerly: `${limit}_RATE_SECONDS`, isPermanent: limit === 'ZIP' },
  ]),
]

/**
 * The value of a variable by its name, or else by its former name. An empty value means unset.
 *
 * @returns the value with the name that was found; undefined when neither name is set
 */
export function readByName(
  environment: Environment,
  name: string,
): { name: string; text: string } | undefined {
  const names = [name, ...ALIASES.filter((alias) => alias.name === name).map(({ formerly }) => formerly)]
  for (const each of names) {
    const text = environment[each]
    if (text) return { name: each, text }
  }
  return undefined
}

/** An error for each variable whose two names have different values. */
export function aliasErrors(environment: Environment): string[] {
  return ALIASES.filter(({ name, formerly }) => isSetTwice(environment[name], environment[formerly])).map(
    ({ name, formerly }) =>
      `${name} and ${formerly}: two names of one variable with different values. Set only ${name}`,
  )
}

function isSetTwice(now: string | undefined, before: string | undefined): boolean {
  return Boolean(now) && Boolean(before) && now !== before
}

/** A warning for each former name that is set. */
export function aliasWarnings(environment: Environment): string[] {
  return ALIASES.filter(({ formerly, isPermanent }) => !isPermanent && environment[formerly]).map(
    ({ name, formerly }) =>
      `${formerly} is now called ${name}. Rename it: a later version ignores the old name.`,
  )
}
