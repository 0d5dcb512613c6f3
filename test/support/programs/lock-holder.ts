import { redisLocks } from '../../../src/adapters/locks/redis.ts'
import { connectRedis } from '../../../src/adapters/redis/connection.ts'

// A process that takes a lock and works until it is killed. It prints `held`, and `aborted` when its work is aborted.
const [url = '', keyPrefix = '', leaseMs, name = ''] = process.argv.slice(2)

const redis = connectRedis({ url })
await redis.ready()
const locks = redisLocks(redis, { keyPrefix, leaseMs: Number(leaseMs) })

await locks
  .share(
    name,
    (signal) => {
      console.log('held')
      signal.addEventListener('abort', () => console.log('aborted'))
      return new Promise(() => {})
    },
    { limitMs: 60_000 },
  )
  .catch((error: Error) => console.log(`failed: ${error.message}`))
