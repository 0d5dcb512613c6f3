import type { RedisOptions } from 'ioredis'
import { parseRedisUrl, REDIS_URL_FORMS } from '../../core/net/redis-url.ts'

/** The address of Redis, and the verification of its certificate. */
export interface RedisAddress {
  /** As {@link parseRedisUrl} accepts it. */
  url: string
  /** The certificate authority of the server, in PEM. Default: those of the system. */
  ca?: string
  /** Whether the certificate is verified. Default: true. */
  verify?: boolean
}

// A healthy Redis responds within a millisecond. A blocked event loop or a fork may take a few hundred. After this time,
// the connection counts as dead and is opened again.
const RESPONSE_MS = 1500

/** Converts an address to ioredis options. @throws Error without the URL, which may contain a password */
export function redisOptions({ url, ca, verify = true }: RedisAddress): RedisOptions {
  const parsed = parseRedisUrl(url)
  if (!parsed) throw new Error(`expected ${REDIS_URL_FORMS}`)
  const { nodes, masterName, isTls, username, password, sentinelPassword, database } = parsed
  const tls = { rejectUnauthorized: verify, ...(ca === undefined ? {} : { ca }) }
  const common = {
    db: database,
    ...(username ? { username } : {}),
    ...(password ? { password } : {}),
    ...(isTls ? { tls } : {}),
  }
  if (masterName === undefined) return { ...common, ...nodes[0] }
  return {
    ...common,
    sentinels: [...nodes],
    name: masterName,
    ...(sentinelPassword ? { sentinelPassword } : {}),
    ...(isTls ? { sentinelTLS: tls, enableTLSForSentinelMode: true } : {}),
    sentinelCommandTimeout: timeLimits({ url }).commandTimeout,
  }
}

/** How long a server at this address may take: to connect, and to respond. */
export function timeLimits({ url }: RedisAddress) {
  const { responseMs = RESPONSE_MS } = parseRedisUrl(url) ?? {}
  return {
    connectTimeout: responseMs,
    commandTimeout: responseMs,
    // Closes the connection, not only the command, so that the next commands do not wait as long.
    socketTimeout: responseMs,
  } satisfies RedisOptions
}
