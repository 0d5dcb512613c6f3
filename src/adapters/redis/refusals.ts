import type { RedisConnection } from './connection.ts'
import { redisScript } from './script.ts'

/** What the operator can do about an error of Redis, by the word with which Redis begins it. */
const ADVICE: ReadonlyArray<readonly [words: RegExp, advice: string]> = [
  [/^NOAUTH\b/, 'Set user name and password in REDIS_URL.'],
  [/^WRONGPASS\b/, 'Correct user name and password in REDIS_URL.'],
  [
    /^NOPERM\b/,
    'Grant the rights that docs/how-to/s3-and-redis.md lists, or redis-cluster.md for a cluster, to the user in REDIS_URL.',
  ],
  [
    /^(?:MOVED|CROSSSLOT)\b/,
    'This is a node of a Redis Cluster. Set REDIS_URL to redis+cluster://host:6379,host:6379 with some of its nodes.',
  ],
  [
    /^CLUSTERDOWN\b/,
    'Some slots of the Redis Cluster have no primary. Start its missing nodes. REDIS_URL must be redis+cluster://host:6379,host:6379.',
  ],
  [/cluster support disabled/i, 'This Redis has no cluster mode. Set REDIS_URL to redis://host:6379.'],
  [/^(?:ASK|TRYAGAIN)\b/, 'Slots of the Redis Cluster are being moved. Retry when that is complete.'],
  [/^READONLY\b/, 'This is a read-only replica. Set REDIS_URL to the primary.'],
  [/^LOADING\b/, 'Redis is loading its data. Wait until it has finished.'],
  [/^MISCONF\b/, 'Redis cannot write its snapshots. Its log has the reason, such as a full disk.'],
  [/^OOM\b/, 'The memory of Redis is full. Increase maxmemory.'],
  [/^NOREPLICAS\b/, 'Redis waits for its replicas (min-replicas-to-write). Start them.'],
  [
    /undeclared key/i,
    'Start Dragonfly with --default_lua_flags=allow-undeclared-keys: scripts compute the names of some keys.',
  ],
  [/unknown (?:command|subcommand)|wrong number of arguments/i, 'Install Redis 6.2 or later.'],
]

/** What the operator can do about an error with which Redis has answered a command. Undefined for any other error. */
export function adviceOf(error: unknown): string | undefined {
  const reply = replyIn(error)
  return reply && ADVICE.find(([words]) => words.test(reply.message))?.[1]
}

/** The error of Redis itself among an error and its causes. Undefined when Redis has not answered. */
export function replyIn(error: unknown): Error | undefined {
  for (let one = error; one instanceof Error; one = one.cause) if (one.name === 'ReplyError') return one
  return undefined
}

/** Whether the user in REDIS_URL may call INFO. False while Redis cannot be reached. Never throws. */
export async function mayCallInfo(redis: RedisConnection): Promise<boolean> {
  return redis
    .send((client) => client.info('server'))
    .then(
      () => true,
      () => false,
    )
}

// A write of a key, of one whose name is computed, and a message to a channel, as steps of the index have them.
const trial = redisScript(`
redis.call('SET', KEYS[1], '', 'PX', 1000)
redis.call('SET', KEYS[1] .. ':2', '', 'PX', 1000)
redis.call('PUBLISH', ARGV[1], '')
return 1`)

/**
 * Does with Redis what the service does: runs a script that writes a key and sends a message.
 * @throws Problem 503, whose cause is the error of Redis: the user may not write the keys, the server is a replica, …
 */
export async function tryRedis(redis: RedisConnection, { keyPrefix }: { keyPrefix: string }): Promise<void> {
  // The hash tag matters only where the prefix has none.
  await trial(redis, [`${keyPrefix}{trial}`], [`${keyPrefix}trial`])
}
