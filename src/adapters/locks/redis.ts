import { createSingleFlights } from '../../core/async/single-flight.ts'
import type { Locks, ShareOptions } from '../../core/ports/locks.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { claimOn } from './redis-claim.ts'
import { type Turn, takeTurn } from './redis-turn.ts'

export interface RedisLocks extends Locks {
  /** Closes the connection that it has opened for itself, not the one it was given. */
  close(): Promise<void>
}

/**
 * Locks across all processes that use one Redis. The callers of one process share one turn at a lock; turns meet in
 * Redis, see `redis-claim.ts`.
 *
 * @param leaseMs how long a dead holder's lock lasts. A holder renews it three times in that time; one that was frozen
 *   longer, or cut off from Redis, has its work aborted.
 */
export function redisLocks(
  redis: RedisConnection,
  { keyPrefix, leaseMs = 10_000 }: { keyPrefix: string; leaseMs?: number },
): RedisLocks {
  const channel = `${keyPrefix}locks`
  const works = createSingleFlights<unknown>()
  const turns = new Map<string, Turn<unknown>>()

  const subscriber = redis.another()
  subscriber.client.on('message', (_channel: string, name: string) => turns.get(name)?.look())
  subscriber.client.on('ready', () => {
    // What was told before is seen by looking; where a subscription is refused, turns look by themselves.
    subscriber
      .send((client) => client.subscribe(channel))
      .then(() => redis.ready())
      .then(() => {
        for (const turn of turns.values()) turn.look()
      })
      .catch(() => {})
  })

  function begin<T>(name: string, work: (signal: AbortSignal) => Promise<T>, limitMs: number): Turn<T> {
    const claim = claimOn(name, { redis, keyPrefix, channel, leaseMs })
    const turn = takeTurn({ claim, work, limitMs })
    turns.set(name, turn)
    void turn.ended.then(() => turns.delete(name))
    return turn
  }

  return {
    async share<T>(
      name: string,
      work: (signal: AbortSignal) => Promise<T>,
      { signal, limitMs }: ShareOptions,
    ) {
      return (await works.join(name, () => begin(name, work, limitMs), signal)) as T
    },
    close: () => subscriber.close(),
  }
}
