import { Redis, type RedisOptions } from 'ioredis'
import { type RedisNode, shownNode } from '../../core/net/redis-url.ts'
import { RedisConnector } from './connector.ts'

/** The login and the time limits of {@link ServerQueries}. */
export type QueryOptions = Pick<
  RedisOptions,
  'username' | 'password' | 'tls' | 'connectTimeout' | 'commandTimeout' | 'disconnectTimeout'
>

/** Short queries, each on a connection of its own. */
export interface ServerQueries {
  /** Queries a server. @throws Error with the address of the server, when it cannot be reached, or `work` throws */
  query<T>(node: RedisNode, work: (client: Redis) => Promise<T>): Promise<T>
  /** Cancels all queries: their promises reject. */
  cancel(): void
}

export function createQueries(options: QueryOptions): ServerQueries {
  const clients = new Set<Redis>()
  return {
    async query(node, work) {
      const client = new Redis({
        ...options,
        ...node,
        Connector: RedisConnector,
        replyMapping: 'legacy',
        lazyConnect: true,
        enableReadyCheck: false,
        retryStrategy: () => null,
      })
      clients.add(client)
      let failure: Error | undefined
      client.on('error', (error: Error) => {
        failure ??= error
      })
      try {
        await client.connect()
        return await work(client)
      } catch (error) {
        const { message, code } = (failure ?? error) as NodeJS.ErrnoException
        throw new Error(`${shownNode(node)}: ${message || code}`, { cause: failure ?? error })
      } finally {
        clients.delete(client)
        client.disconnect()
      }
    },
    cancel() {
      for (const client of clients) client.disconnect()
      clients.clear()
    },
  }
}
