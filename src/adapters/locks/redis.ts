import { createSingleFlights } from '../../core/async/single-flight.ts'
import type { Locks, ShareOptions } from '../../core/ports/locks.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { claimOn } from './redis-claim.ts'
import { type Turn, takeTurn } from './redis-turn.ts'

/** Locks with a connection of their own, for messages. */
export interface RedisLocks extends Locks {
  /** Closes the connection that it has opened itself, not the one that it was given. */
  close(): Promise<void>
}

/**
 * Locks across all processes that use one Redis. The callers of one process share one turn. The turns of the processes
 * are coordinated in Redis, see `redis-claim.ts`.
 *
 * @param options.leaseMs how long the lock of a dead holder lasts, unless the caller decides otherwise. A holder renews it three times
 *   in this time. The work of a holder that was frozen for longer, or lost its connection to Redis, is aborted.
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
    // Earlier messages were missed, so every turn checks once. Where Redis refuses the subscription, turns poll.
    subscriber
      .send((client) => client.subscribe(channel))
      .then(() => redis.ready())
      .then(() => {
        for (const turn of turns.values()) turn.look()
      })
      .catch(() => {})
  })

  function begin<T>(
    name: string,
    work: (signal: AbortSignal) => Promise<T>,
    { limitMs, leaseMs: leased = leaseMs }: ShareOptions,
  ): Turn<T> {
    const claim = claimOn(name, { redis, keyPrefix, channel, leaseMs: leased })
    const turn = takeTurn({ claim, work, limitMs })
    turns.set(name, turn)
    void turn.ended.then(() => turns.delete(name))
    return turn
  }

  return {
    async share<T>(name: string, work: (signal: AbortSignal) => Promise<T>, options: ShareOptions) {
      return (await works.join(name, () => begin(name, work, options), options.signal)) as T
    },
    close: () => subscriber.close(),
  }
}
