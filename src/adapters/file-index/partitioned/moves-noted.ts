import type { RedisKeyspace } from '../../redis/keyspaces.ts'
import { type Division, textOf } from './division.ts'

/**
 * The divisions of all clients that have ever moved, as texts. A mover notes that of a move before it begins, and that of its end after
 * it. They are in another place than the divisions, which are read here when the node of one has lost all data.
 */
export function movesNoted(keyspaces: readonly RedisKeyspace[]) {
  const { redis, keyPrefix } = keyspaces[0] as RedisKeyspace
  const key = `${keyPrefix}moves`
  return {
    async note(clientId: string, division: Division): Promise<void> {
      await redis.send((client) => client.hset(key, clientId, textOf(division)))
    },
    /** The text of one client, which may be older than its division. */
    of: (clientId: string): Promise<string | null> => redis.send((client) => client.hget(key, clientId)),
    /** The texts by client. */
    read: (): Promise<Record<string, string>> => redis.send((client) => client.hgetall(key)),
  }
}

export type MovesNoted = ReturnType<typeof movesNoted>
