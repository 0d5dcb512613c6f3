import { connect as connectTcp, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AbstractConnector, type RedisOptions } from 'ioredis'
import type { RedisNode } from '../../core/net/redis-url.ts'

/** Whether a server is a primary, by the role that INFO states. Without INFO it is unknown, and true. */
export const isPrimary = (role?: string) => role === undefined || role === 'master'

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
