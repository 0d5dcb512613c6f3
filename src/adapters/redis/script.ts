import { createHash } from 'node:crypto'
import type { RedisConnection } from './connection.ts'

/**
 * A step that Redis does as a whole, and that nothing comes between. Steps of one connection are done in the order in
 * which they were sent.
 */
export type RedisScript = (
  redis: RedisConnection,
  keys: readonly string[],
  args: ReadonlyArray<string | number>,
) => Promise<unknown>

/** @param lua reads its keys from KEYS and all else from ARGV, where numbers have become text */
export function redisScript(lua: string): RedisScript {
  const digest = createHash('sha1').update(lua).digest('hex')
  // The sockets that it was sent over in full: the server at their other end has it, and it is named by its digest.
  const sent = new WeakSet<object>()
  return (redis, keys, args) =>
    redis.send(async (client) => {
      const inFull = () => client.eval(lua, keys.length, ...keys, ...args)
      if (client.status !== 'ready' || !sent.has(client.stream)) {
        if (client.status === 'ready') sent.add(client.stream)
        return inFull()
      }
      try {
        return await client.evalsha(digest, keys.length, ...keys, ...args)
      } catch (error) {
        // It has been told to forget its scripts, and has done nothing yet.
        if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return inFull()
        throw error
      }
    })
}
