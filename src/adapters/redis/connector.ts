import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AbstractConnector, type RedisOptions } from 'ioredis'

/**
 * How ioredis opens its connections. Its own way listens to the first error of a socket; one of TLS that is given up in its
 * handshake may have two, and the second would end the process.
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
    // It may be given up at once.
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
