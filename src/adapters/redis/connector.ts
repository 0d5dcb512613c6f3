import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AbstractConnector, Redis, type RedisOptions } from 'ioredis'
import type { RedisNode } from '../../core/net/redis-url.ts'

/**
 * Opens the connections of ioredis. The built-in connector handles only the first error of a socket. A TLS socket that is
 * closed during its handshake may emit two, and the second one would end the process.
 */
export class RedisConnector extends AbstractConnector {
  readonly #options: RedisOptions

  constructor(options: unknown) {
    const { disconnectTimeout = 0 } = options as RedisOptions
    super(disconnectTimeout)
    this.#options = options as RedisOptions
  }

  async connect(): Promise<Socket> {
    this.connecting = true
    const node = await this.node(this.#options)
    // The caller may have disconnected meanwhile.
    if (!this.connecting) throw new Error('Connection is closed.')
    const { tls } = this.#options
    const socket = tls ? connectTls({ ...node, ...tls }) : connectTcp(node)
    socket.on('error', (error) => {
      this.firstError ??= error
    })
    this.stream = socket
    return socket
  }

  /** The server to connect to. */
  protected async node({ host = 'localhost', port = 6379 }: RedisOptions): Promise<RedisNode> {
    return { host, port }
  }
}

/**
 * Connects to the primary that the Sentinels name. All are asked at once, and the first answer counts: ioredis asks one after the
 * other, so that dead ones delay a failover.
 *
 * @see https://redis.io/docs/latest/develop/reference/sentinel-clients/
 */
export class SentinelRedisConnector extends RedisConnector {
  /** Whether it is the right server, after it was asked for its role: a Sentinel may name an old primary for a while. */
  override check({ role }: { role?: string }): boolean {
    return role === undefined || role === 'master'
  }

  protected override async node(options: RedisOptions): Promise<RedisNode> {
    const { sentinels = [], name = '' } = options
    try {
      return await Promise.any(
        sentinels.map(({ host = '', port = 0 }) => primaryOf(name, { host, port }, options)),
      )
    } catch (error) {
      const reasons = (error as AggregateError).errors.map(({ message }) => message)
      throw new Error(`no Sentinel names the primary of ${name}: ${[...new Set(reasons)].join('; ')}`)
    }
  }
}

/** Asks a Sentinel. @throws Error when it does not respond, or does not know the name */
async function primaryOf(
  name: string,
  node: RedisNode,
  { sentinelPassword, sentinelTLS, connectTimeout, sentinelCommandTimeout }: RedisOptions,
): Promise<RedisNode> {
  const sentinel = new Redis({
    ...node,
    ...(sentinelPassword ? { password: sentinelPassword } : {}),
    ...(sentinelTLS ? { tls: sentinelTLS } : {}),
    ...(connectTimeout ? { connectTimeout } : {}),
    ...(sentinelCommandTimeout ? { commandTimeout: sentinelCommandTimeout } : {}),
    Connector: RedisConnector,
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
  })
  let failure: Error | undefined
  sentinel.on('error', (error: Error) => {
    failure ??= error
  })
  try {
    await sentinel.connect()
    const found = (await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)) as string[] | null
    const [primary, primaryPort] = found ?? []
    if (primary === undefined) throw new Error(`the Sentinel does not know ${name}`)
    return { host: primary, port: Number(primaryPort) }
  } catch (error) {
    throw failure ?? error
  } finally {
    sentinel.disconnect()
  }
}
