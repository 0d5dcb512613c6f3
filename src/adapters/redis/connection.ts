import { Redis, type RedisOptions } from 'ioredis'
import type { Log } from '../../core/log.ts'
import { type Problem, unavailable } from '../../core/problem.ts'
import { type RedisAddress, redisOptions, timeLimits } from './address.ts'
import { ClusterRedisConnector, type ClusterSlot } from './cluster-connector.ts'
import { RedisConnector } from './connector.ts'
import type { QueryOptions } from './queries.ts'
import { SentinelRedisConnector } from './sentinel-connector.ts'

/**
 * One connection to Redis, which reconnects by itself. Commands are not queued while it is down: a command fails at once.
 * A command without a response fails after the `timeout` of the URL, by default 1.5 s. Redis may still execute it later, when it was only slow.
 * So each of our commands must be safe to execute late.
 */
export interface RedisConnection {
  /** For packages that need an ioredis client. Our own commands use {@link RedisConnection.send}. */
  readonly client: Redis
  /** Sends a command. @throws Problem 503 when Redis cannot be reached, does not respond in time, or refuses the command */
  send<T>(command: (client: Redis) => Promise<T>): Promise<T>
  /**
   * Opens another connection to the same server, for subscriptions. The caller closes it.
   * @param options.protocol the version of Redis' protocol. Default: 3
   */
  another(options?: { protocol?: 2 }): RedisConnection
  /** Resolves when commands can be sent. @throws Problem 503 after the time limit of a command and {@link READY_EXTRA_MS} more */
  ready(): Promise<void>
  close(): Promise<void>
}

const READY_EXTRA_MS = 500
const RETRY_MAX_MS = 1000

/**
 * Connects, and reconnects after every loss.
 *
 * @param options.clusterSlot the slot of a Redis Cluster whose primary is meant. Absent: the connection is to the first node, or to
 *   the primary that the Sentinels name
 * @throws Error for an invalid URL
 */
export function connectRedis({
  log,
  clusterSlot,
  ...address
}: RedisAddress & { log?: Log; clusterSlot?: ClusterSlot }): RedisConnection {
  const options = redisOptions(address)
  const Connector = connectorOf(options, clusterSlot)
  return connection(
    { ...options, ...BEHAVIOUR, ...timeLimits(address), ...(clusterSlot ? { clusterSlot } : {}), Connector },
    log,
  )
}

function connectorOf({ sentinels }: RedisOptions, clusterSlot: ClusterSlot | undefined) {
  if (sentinels) return SentinelRedisConnector
  return clusterSlot ? ClusterRedisConnector : RedisConnector
}

/** The options for short queries to the servers at an address. */
export function queryOptions(address: RedisAddress): QueryOptions {
  const { username, password, tls } = redisOptions(address)
  const { connectTimeout, commandTimeout } = timeLimits(address)
  const { disconnectTimeout } = BEHAVIOUR
  return {
    ...{ connectTimeout, commandTimeout, disconnectTimeout },
    ...(username ? { username } : {}),
    ...(password ? { password } : {}),
    ...(tls ? { tls } : {}),
  }
}

const BEHAVIOUR = {
  replyMapping: 'legacy',
  connectionName: 'sluice',
  disconnectTimeout: 300,
  maxLoadingRetryTime: 500,
  enableOfflineQueue: false,
  // Commands without a response fail when the connection is lost. Whether Redis executed them is unknown.
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // ioredis would not handle a failed resubscription, which ends the process. Subscribers subscribe again at each `ready`.
  autoResubscribe: false,
  retryStrategy: (times) => Math.min(25 * 2 ** times, RETRY_MAX_MS) * (0.5 + Math.random() / 2),
} as const satisfies RedisOptions

function connection(
  options: RedisOptions & { replyMapping: 'legacy'; commandTimeout: number; clusterSlot?: ClusterSlot },
  log: Log | undefined,
): RedisConnection {
  const client = new Redis({ ...options, reconnectOnError: elsewhere(options.clusterSlot) })
  // Each command that waits for the connection listens.
  client.setMaxListeners(0)
  let lastFailure: Error | undefined
  // Whether the outage was logged. Also set on close, so that nothing is logged after that.
  let isOutageLogged = false
  client.on('error', (error: Error & { command?: { name: string } }) => {
    // ioredis would continue with a different database than the configured one.
    if (error.command?.name === 'select') client.disconnect(true)
    // Errors caused by the closing connection do not name the reason.
    if (!lastFailure || !error.message.includes("isn't writeable")) lastFailure = withoutArguments(error)
    if (!isOutageLogged) log?.warn({ err: lastFailure }, 'Redis cannot be reached')
    isOutageLogged = true
  })
  client.on('ready', () => {
    if (isOutageLogged) log?.info({}, 'Redis can be reached again')
    isOutageLogged = false
    lastFailure = undefined
  })

  const problem = (error: unknown): Problem => {
    const cause = withoutArguments(error as Error)
    // "Reached the max retries per request limit" does not help. The reason of the lost connection does.
    if (cause.name !== 'ReplyError' && lastFailure && cause !== lastFailure) cause.cause ??= lastFailure
    const does = cause.name === 'ReplyError' ? 'refuses a command' : 'does not respond'
    return unavailable(`The storage backend ${does}. Retry in a few seconds.`, { cause })
  }
  const ready = () =>
    new Promise<void>((resolve, reject) => {
      // After `disconnect`, ioredis keeps the status until the socket is closed.
      if (client.status === 'ready' && client.stream.writable) return resolve()
      const timer = setTimeout(() => {
        client.off('ready', done)
        reject(problem(lastFailure ?? new Error('no response')))
      }, options.commandTimeout + READY_EXTRA_MS)
      const done = () => {
        clearTimeout(timer)
        resolve()
      }
      client.once('ready', done)
    })
  return {
    client,
    async send(command) {
      try {
        return await command(client)
      } catch (error) {
        if (!(error as Error).message.startsWith('MOVED ')) throw problem(error)
      }
      // The node has not executed the command. The next connection is to the primary that has the slot.
      await ready()
      return command(client).catch((error) => {
        throw problem(error)
      })
    },
    another: (more) => connection({ ...options, ...more }, undefined),
    ready,
    async close() {
      isOutageLogged = true
      await client.quit().catch(() => client.disconnect())
    },
  }
}

/**
 * Whether the connection is opened again after an error, since another server may be the primary now: after a failover, the old one
 * still answers as a replica. In a cluster, another node may have the slot, and a node that is cut off from the others refuses
 * commands, while they have replaced it.
 */
function elsewhere(clusterSlot: ClusterSlot | undefined): (error: Error) => boolean {
  let downAt = Number.NEGATIVE_INFINITY
  return ({ message }) => {
    if (message.startsWith('MOVED ')) clusterSlot?.cluster.forget()
    if (!message.startsWith('CLUSTERDOWN')) return /READONLY|^MOVED /.test(message)
    if (performance.now() - downAt < RETRY_MAX_MS) return false
    downAt = performance.now()
    return clusterSlot !== undefined
  }
}

/** ioredis attaches the arguments of a command to its error. For AUTH, these include the password. */
export function withoutArguments(error: Error & { command?: unknown }): Error {
  delete error.command
  return error
}

/**
 * Warnings for the operator about the settings of this Redis, one sentence each.
 * @throws Problem 503 when it cannot be reached
 */
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

/** A setting of Redis. Undefined where CONFIG is forbidden, as on many hosted servers. */
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
