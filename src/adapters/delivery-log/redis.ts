import {
  type Delivery,
  type DeliveryLog,
  type DeliveryLogLimits,
  isSelected,
  positionOf,
  timePosition,
} from '../../core/ports/events/delivery-log.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { redisScript } from '../redis/script.ts'

// KEYS: the deliveries and their events by id, the positions of all deliveries, and those of this receiver. ARGV: the id, its
// position, the delivery, its event, the maximum per receiver, the first position that is retained, and the retention time.
const add = redisScript(`
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
redis.call('ZADD', KEYS[3], 0, ARGV[2])
redis.call('ZADD', KEYS[4], 0, ARGV[2])
local dropped = redis.call('ZRANGEBYLEX', KEYS[3], '-', '(' .. ARGV[6], 'LIMIT', 0, 1000)
local surplus = redis.call('ZCARD', KEYS[4]) - tonumber(ARGV[5])
if surplus > 0 then
  for _, position in ipairs(redis.call('ZRANGE', KEYS[4], 0, math.min(surplus, 1000) - 1)) do
    dropped[#dropped + 1] = position
  end
end
for _, position in ipairs(dropped) do
  local id = string.sub(position, 17)
  redis.call('HDEL', KEYS[1], id)
  redis.call('HDEL', KEYS[2], id)
  redis.call('ZREM', KEYS[3], position)
  redis.call('ZREM', KEYS[4], position)
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[7]) end`)

// ARGV: the id, the delivery as it was read, and the new one.
const replace = redisScript(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1`)

// Two attempts of the same delivery at the same time are rare, more than a few are a fault.
const TRIES = 10
const BATCH = 200

/** A delivery log in Redis, for any number of processes. */
export function redisDeliveryLog(
  redis: RedisConnection,
  {
    keyPrefix,
    maxPerReceiver,
    retentionMs,
    now = Date.now,
  }: DeliveryLogLimits & { keyPrefix: string; now?: () => number },
): DeliveryLog {
  const key = (name: string) => `${keyPrefix}deliveries:${name}`
  const [heads, events, positions] = [key('heads'), key('events'), key('positions')]
  const isListed = ({ occurredAt }: Delivery) => occurredAt > now() - retentionMs

  return {
    async add({ data, ...delivery }) {
      await add(
        redis,
        [heads, events, positions, key(`of:${delivery.receiver.id}`)],
        [
          delivery.id,
          positionOf(delivery),
          JSON.stringify(delivery),
          JSON.stringify(data),
          maxPerReceiver,
          timePosition(now() - retentionMs + 1),
          retentionMs,
        ],
      )
    },

    async change(id, change) {
      for (let i = 0; i < TRIES; i += 1) {
        const before = await redis.send((client) => client.hget(heads, id))
        const delivery: Delivery | undefined = before === null ? undefined : JSON.parse(before)
        const after = delivery && isListed(delivery) ? change(delivery) : undefined
        if (before === null || after === undefined) return undefined
        if ((await replace(redis, [heads], [id, before, JSON.stringify(after)])) === 1) return after
      }
      throw new Error(`the delivery ${id} has changed ${TRIES} times during a change`)
    },

    async find(id) {
      const [head, data] = await redis.send((client) =>
        Promise.all([client.hget(heads, id), client.hget(events, id)]),
      )
      if (head === null || data === null) return undefined
      const delivery: Delivery = JSON.parse(head)
      return isListed(delivery) ? { ...delivery, data: JSON.parse(data) } : undefined
    },

    async list({ before, limit, ...filter }) {
      const found: Delivery[] = []
      const first = `[${timePosition(Math.max(now() - retentionMs + 1, filter.since ?? 0))}`
      for (let last = before; ; ) {
        const end = last === undefined ? '+' : `(${last}`
        const batch = await redis.send((client) =>
          client.zrevrangebylex(positions, end, first, 'LIMIT', 0, BATCH),
        )
        if (batch.length > 0) {
          const ids = batch.map((position) => position.slice(timePosition(0).length))
          const texts = await redis.send((client) => client.hmget(heads, ...ids))
          for (const text of texts) {
            const delivery: Delivery | undefined = text === null ? undefined : JSON.parse(String(text))
            if (delivery && isSelected(delivery, filter)) found.push(delivery)
          }
        }
        if (batch.length < BATCH || found.length >= limit) return found.slice(0, limit)
        last = batch.at(-1)
      }
    },
  }
}
