import { Redis, type RedisOptions } from 'ioredis'
import type { Log } from '../../core/log.ts'
import { type Problem, unavailable } from '../../core/problem.ts'
import { RedisConnector } from './connector.ts'

/**
 * One connection to Redis, which comes back by itself. Nothing is queued while it is away: a command fails at once, and
 * one that gets no answer fails after {@link ANSWER_MS}. It may still be carried out after that, when Redis was only
 * slow; every step of ours is made to bear that.
 */
export interface RedisConnection {
  /** For packages that want a client of ioredis. Commands of ours go through {@link RedisConnection.send}. */
  readonly client: Redis
  /** @throws Problem 503 when Redis cannot be reached, does not answer in time, or refuses */
  send<T>(command: (client: Redis) => Promise<T>): Promise<T>
  /** One more connection to the same place, to be closed by itself: for subscriptions. */
  another(): RedisConnection
  /** Resolves when commands can be sent. @throws Problem 503 when that takes too long */
  ready(): Promise<void>
  close(): Promise<void>
}

export interface RedisAddress {
  /** `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS. */
  url: string
  /** The authority that has signed the server's certificate, in PEM; the system's when absent. */
  ca?: string
  /** Whether that signature is looked at; true unless told otherwise. */
  verify?: boolean
}

// What a healthy Redis answers in a millisecond; a blocked event loop or a fork may take some hundred. Past it, the
// connection counts as dead and is made anew.
const ANSWER_MS = 1500
const READY_MS = 2000
const RETRY_MAX_MS = 1000

/** Connects, now and after every loss. @throws Error for an address that is not one */
export function connectRedis({ log, ...address }: RedisAddress & { log?: Log }): RedisConnection {
  return connection({ ...redisOptions(address), ...BEHAVIOUR }, log)
}

/** What an address means to ioredis. @throws Error that does not show it: it may hold a password */
export function redisOptions({ url, ca, verify = true }: RedisAddress): RedisOptions {
  const { protocol, hostname, port, pathname, username, password } = parsedUrl(url)
  return {
    // ioredis wants the address itself: `::1`, not `[::1]`.
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 6379),
    db: Number(pathname.slice(1)),
    ...(username ? { username } : {}),
    ...(password ? { password } : {}),
    ...(protocol === 'rediss:'
      ? { tls: { rejectUnauthorized: verify, ...(ca === undefined ? {} : { ca }) } }
      : {}),
  }
}

function parsedUrl(url: string) {
  try {
    const { protocol, hostname, port, pathname, username, password } = new URL(url)
    if (/^rediss?:$/.test(protocol) && hostname && /^(\/\d{0,5})?$/.test(pathname))
      return {
        protocol,
        hostname,
        port,
        pathname,
        username: decodeURIComponent(username),
        password: decodeURIComponent(password),
      }
  } catch {
    // What is thrown there shows the address.
  }
  throw new Error('expected redis://[user:password@]host[:port][/database] or rediss:// for Redis')
}

const BEHAVIOUR = {
  replyMapping: 'legacy',
  Connector: RedisConnector,
  connectionName: 'sluice',
  connectTimeout: ANSWER_MS,
  commandTimeout: ANSWER_MS,
  // Not only the command fails: the connection is given up, so that the next ones need not wait as long.
  socketTimeout: ANSWER_MS,
  disconnectTimeout: 300,
  maxLoadingRetryTime: 500,
  enableOfflineQueue: false,
  // What was sent and not answered when the connection broke fails; whether it was carried out is not known.
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // ioredis would leave its failure to nobody, which ends the process: who subscribes does so at each `ready`.
  autoResubscribe: false,
  retryStrategy: (times) => Math.min(25 * 2 ** times, RETRY_MAX_MS) * (0.5 + Math.random() / 2),
  // After a failover the old primary still answers, as a replica.
  reconnectOnError: (error) => error.message.includes('READONLY'),
} as const satisfies RedisOptions

function connection(
  options: RedisOptions & { replyMapping: 'legacy' },
  log: Log | undefined,
): RedisConnection {
  const client = new Redis(options)
  let lastFailure: Error | undefined
  // Whether the log knows that it is away; nobody wants to know after the end.
  let told = false
  client.on('error', (error: Error & { command?: { name: string } }) => {
    // ioredis would go on with another database than the one that was asked for.
    if (error.command?.name === 'select') client.disconnect(true)
    // What fails because the connection is ending says nothing about why.
    if (!lastFailure || !error.message.includes("isn't writeable")) lastFailure = withoutArguments(error)
    if (!told) log?.warn({ err: lastFailure }, 'Redis cannot be reached')
    told = true
  })
  client.on('ready', () => {
    if (told) log?.info({}, 'Redis can be reached again')
    told = false
    lastFailure = undefined
  })

  const problem = (error: unknown): Problem => {
    const cause = withoutArguments(error as Error)
    // "Reached the max retries per request limit" says little; why there is no connection says more.
    if (cause.name !== 'ReplyError' && lastFailure && cause !== lastFailure) cause.cause ??= lastFailure
    return unavailable('The storage backend does not respond. Retry in a few seconds.', { cause })
  }
  return {
    client,
    async send(command) {
      try {
        return await command(client)
      } catch (error) {
        throw problem(error)
      }
    },
    another: () => connection(options, undefined),
    ready: () =>
      new Promise((resolve, reject) => {
        if (client.status === 'ready') return resolve()
        const timer = setTimeout(() => {
          client.off('ready', done)
          reject(problem(lastFailure ?? new Error('no response')))
        }, READY_MS)
        const done = () => {
          clearTimeout(timer)
          resolve()
        }
        client.once('ready', done)
      }),
    async close() {
      told = true
      await client.quit().catch(() => client.disconnect())
    },
  }
}

/** ioredis hangs a command's arguments on its error: a password, when it was the one that logs in. */
function withoutArguments(error: Error & { command?: unknown }): Error {
  delete error.command
  return error
}

/** What the operator should know of this Redis, one sentence each. @throws Problem 503 when it cannot be reached */
export async function warnings(redis: RedisConnection): Promise<string[]> {
  const found: string[] = []
  const policy = await setting(redis, 'maxmemory-policy')
  if (policy === undefined)
    found.push(
      'Redis does not return its maxmemory-policy: set it to noeviction, or entries of the index can be lost',
    )
  else if (policy !== 'noeviction')
    found.push(
      `Redis evicts entries of the index when its memory is full: set maxmemory-policy to noeviction, not ${policy}`,
    )

  const appending = await setting(redis, 'appendonly')
  const snapshots = await setting(redis, 'save')
  if (appending === undefined || snapshots === undefined)
    found.push('Redis does not return its persistence settings: make sure that it stores its data on disk')
  else if (appending !== 'yes' && snapshots === '')
    found.push('Redis stores nothing on disk, so the index is lost when Redis stops: set appendonly to yes')
  return found
}

/** Undefined where Redis does not tell: CONFIG is often forbidden on a rented one. */
function setting(redis: RedisConnection, name: string): Promise<string | undefined> {
  return redis.send(async (client) => {
    try {
      const [, value] = (await client.config('GET', name)) as string[]
      return value
    } catch (error) {
      if ((error as Error).name === 'ReplyError') return undefined
      throw error
    }
  })
}
