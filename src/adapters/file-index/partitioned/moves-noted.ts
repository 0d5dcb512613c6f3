import type { RedisKeyspace } from '../../redis/keyspaces.ts'

/** The epochs of all clients that have ever moved. A mover notes that of a move before it begins, and that of its end after it. */
export function movesNoted(keyspaces: readonly RedisKeyspace[]) {
  const { redis, keyPrefix } = keyspaces[0] as RedisKeyspace
  const key = `${keyPrefix}moves`
  return {
    async note(clientId: string, epoch: number): Promise<void> {
      await redis.send((client) => client.hset(key, clientId, epoch))
    },
    /** The epochs by client. An odd one is that of a move in progress. */
    read: (): Promise<Record<string, string>> => redis.send((client) => client.hgetall(key)),
  }
}

export type MovesNoted = ReturnType<typeof movesNoted>
