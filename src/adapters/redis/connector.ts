import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AbstractConnector, type RedisOptions } from 'ioredis'

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
    // The caller may disconnect in the same turn.
    await undefined
    if (!this.connecting) throw new Error('Connection is closed.')
    const { host = 'localhost', port = 6379, tls } = this.#options
    const socket = tls ? connectTls({ host, port, ...tls }) : connectTcp({ host, port })
    socket.on('error', (error) => {
      this.firstError ??= error
    })
    this.stream = socket
    return socket
  }
}
