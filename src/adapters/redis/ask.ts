import { Redis, type RedisOptions } from 'ioredis'
import type { RedisNode } from '../../core/net/redis-url.ts'
import { RedisConnector } from './connector.ts'

/** The options of a connection that asks one question: those of {@link RedisOptions} with the time limits and the login. */
export type AskOptions = Pick<
  RedisOptions,
  'username' | 'password' | 'tls' | 'connectTimeout' | 'commandTimeout' | 'disconnectTimeout'
>

/** Connections that ask servers a question. */
export interface Asking {
  /** Asks a server. @throws Error with the address of the server, when it cannot be asked, or `question` throws */
  ask<T>(node: RedisNode, question: (client: Redis) => Promise<T>): Promise<T>
  /** Ends all questions: their promises reject. */
  leave(): void
}

export function createAsking(options: AskOptions): Asking {
  const asked = new Set<Redis>()
  return {
    async ask(node, question) {
      const client = new Redis({
        ...options,
        ...node,
        Connector: RedisConnector,
        replyMapping: 'legacy',
        lazyConnect: true,
        enableReadyCheck: false,
        retryStrategy: () => null,
      })
      asked.add(client)
      let failure: Error | undefined
      client.on('error', (error: Error) => {
        failure ??= error
      })
      try {
        await client.connect()
        return await question(client)
      } catch (error) {
        const { message, code } = (failure ?? error) as NodeJS.ErrnoException
        throw new Error(`${shownNode(node)}: ${message || code}`)
      } finally {
        asked.delete(client)
        client.disconnect()
      }
    },
    leave() {
      for (const client of asked) client.disconnect()
      asked.clear()
    },
  }
}

function shownNode({ host, port }: RedisNode): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
