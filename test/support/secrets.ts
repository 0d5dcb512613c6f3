import { parseRedisUrl } from '../../src/core/net/redis-url.ts'

// A generated secret token, of any client, or that of an operator who has signed in.
const SECRET_TOKEN = /sec_[1-9A-HJ-NP-Za-km-z]{40,}|adm_[\w-]{60,}/
const SECRET_VARIABLES = [
  'SECRET_CLIENT_TOKEN',
  'APP_SECRET',
  'ADMIN_PASSWORD',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'METRICS_TOKEN',
]

/**
 * Nothing of what must not be read in a log is in `text`: called with all that a service or a process of the tests has
 * logged, at its end, it looks through the log of the whole run.
 *
 * @param env the environment of the service, whose secrets are searched for in addition to generated ones
 * @throws Error with the place, without the secret
 */
export function expectNoSecrets(text: string, env: Readonly<Record<string, string>>): void {
  const given = [
    ...SECRET_VARIABLES.map((name) => env[name]),
    ...[env.WEBHOOK_SECRET, env.WEBHOOK_URL].flatMap((list) => list?.split(/\s+/)),
    parseRedisUrl(env.REDIS_URL ?? '')?.password,
    parseRedisUrl(env.REDIS_URL ?? '')?.sentinelPassword,
  ].filter((secret) => secret !== undefined && secret !== '') as string[]
  const found = SECRET_TOKEN.exec(text)?.[0] ?? given.find((secret) => text.includes(secret))
  if (found === undefined) return
  const at = text.indexOf(found)
  throw new Error(`a secret is in the log: ${text.slice(Math.max(0, at - 300), at)}…`)
}
