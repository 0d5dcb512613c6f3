import { createHash } from 'node:crypto'
import type { RedisConnection } from './connection.ts'

/**
 * A script that Redis executes atomically. Scripts on one connection run in the order in which they were sent.
 */
export type RedisScript = (
  redis: RedisConnection,
  keys: ReadonlyArray<string | Buffer>,
  args: ReadonlyArray<string | number | Buffer>,
) => Promise<unknown>

/**
 * @param lua reads its keys from KEYS and all other values from ARGV, where numbers are text
 * @param options.replies `bytes`: texts in the reply are buffers. Default: `text`
 */
export function redisScript(
  lua: string,
  { replies = 'text' }: { replies?: 'text' | 'bytes' } = {},
): RedisScript {
  const digest = createHash('sha1').update(lua).digest('hex')
  // The sockets over which the full script was sent. The servers at their other end know it by its digest.
  const sent = new WeakSet<object>()
  return (redis, keys, args) =>
    redis.send(async (client) => {
      const call = (name: string, script: string) =>
        client[replies === 'bytes' ? 'callBuffer' : 'call'](name, script, keys.length, ...keys, ...args)
      const inFull = () => call('EVAL', lua)
      if (client.status !== 'ready' || !sent.has(client.stream)) {
        if (client.status === 'ready') sent.add(client.stream)
        return inFull()
      }
      try {
        return await call('EVALSHA', digest)
      } catch (error) {
        // An operator has flushed the scripts of Redis. Nothing was executed.
        if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return inFull()
        throw error
      }
    })
}
