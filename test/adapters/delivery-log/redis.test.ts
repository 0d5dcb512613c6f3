import { redisDeliveryLog } from '../../../src/adapters/delivery-log/redis.ts'
import { connectRedis } from '../../../src/adapters/redis/connection.ts'
import { deliveryLogContract } from '../../contracts/delivery-log.ts'
import { newKeyPrefix, sharedRedis } from '../../support/servers/redis-server.ts'

deliveryLogContract('Redis', async (options) => {
  const { url } = await sharedRedis()
  const connections = [connectRedis({ url }), connectRedis({ url })] as const
  await Promise.all(connections.map((each) => each.ready()))
  const keyPrefix = newKeyPrefix()
  return {
    log: redisDeliveryLog(connections[0], { keyPrefix, ...options }),
    elsewhere: redisDeliveryLog(connections[1], { keyPrefix, ...options }),
    close: async () => {
      const keys = await connections[0].client.keys(`${keyPrefix}*`)
      if (keys.length > 0) await connections[0].client.del(...keys)
      await Promise.all(connections.map((each) => each.close()))
    },
  }
})
