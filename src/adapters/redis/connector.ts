import { connect as connectTcp, Socket } from 'node:net'
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
    delete this.firstError
    const node = await this.node(this.#options).catch((error: Error) => {
      this.firstError = error
      return undefined
    })
    // The caller may have disconnected meanwhile.
    if (!this.connecting) throw new Error('Connection is closed.')
    // When this rejects, ioredis never connects again. After a socket that is closed already, it does.
    const socket = node ? this.#open(node) : new Socket().destroy()
    socket.on('error', (error) => {
      this.firstError ??= error
    })
    this.stream = socket
    return socket
  }

  #open(node: RedisNode): Socket {
    const { tls } = this.#options
    return tls ? connectTls({ ...node, ...tls }) : connectTcp(node)
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
  #named: RedisNode | undefined
  /** What was named as the primary, and is a replica. The next time, another answer is waited for. */
  #refused: RedisNode | undefined
  readonly #asked = new Set<Redis>()

  /** Whether it is the right server, after it was asked for its role: a Sentinel may name an old primary for a while. */
  override check({ role }: { role?: string }): boolean {
    const isPrimary = role === undefined || role === 'master'
    this.#refused = isPrimary ? undefined : this.#named
    return isPrimary
  }

  override disconnect(): void {
    super.disconnect()
    this.#leave()
  }

  protected override async node(options: RedisOptions): Promise<RedisNode> {
    const { sentinels = [], name = '' } = options
    const refused = this.#refused
    this.#refused = undefined
    try {
      this.#named = await Promise.any(
        sentinels.map(async ({ host = '', port = 0 }) => {
          const primary = await this.#ask({ host, port }, options)
          if (primary.host !== refused?.host || primary.port !== refused.port) return primary
          throw new Error(`${host}:${port}: it names ${primary.host}:${primary.port}, which is a replica`)
        }),
      )
      return this.#named
    } catch (error) {
      const reasons = (error as AggregateError).errors.map(({ message }) => message)
      throw new Error(`no Sentinel names the primary of ${name}: ${reasons.join('; ')}`)
    } finally {
      this.#leave()
    }
  }

  /** Asks a Sentinel. @throws Error when it does not respond, does not know the name, or is no Sentinel */
  async #ask(node: RedisNode, options: RedisOptions): Promise<RedisNode> {
    const { name = '', sentinelPassword, sentinelTLS, disconnectTimeout } = options
    const { connectTimeout, sentinelCommandTimeout } = options
    const sentinel = new Redis({
      ...node,
      ...(sentinelPassword ? { password: sentinelPassword } : {}),
      ...(sentinelTLS ? { tls: sentinelTLS } : {}),
      ...(connectTimeout ? { connectTimeout } : {}),
      ...(sentinelCommandTimeout ? { commandTimeout: sentinelCommandTimeout } : {}),
      ...(disconnectTimeout ? { disconnectTimeout } : {}),
      Connector: RedisConnector,
      lazyConnect: true,
      enableReadyCheck: false,
      retryStrategy: () => null,
    })
    this.#asked.add(sentinel)
    let failure: Error | undefined
    sentinel.on('error', (error: Error) => {
      failure ??= error
    })
    try {
      await sentinel.connect()
      return primaryIn(await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name))
    } catch (error) {
      const { message, code } = (failure ?? error) as NodeJS.ErrnoException
      throw new Error(`${node.host}:${node.port}: ${message || code}`)
    }
  }

  /** Ends all questions. */
  #leave(): void {
    for (const sentinel of this.#asked) sentinel.disconnect()
    this.#asked.clear()
  }
}

/** The address in an answer. @throws Error for any other answer */
function primaryIn(answer: unknown): RedisNode {
  if (answer === null) throw new Error('it does not know this name')
  const [host, port = ''] = Array.isArray(answer) ? answer.map(String) : []
  if (!host || !/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535)
    throw new Error('its answer is not that of a Sentinel')
  return { host, port: Number(port) }
}
