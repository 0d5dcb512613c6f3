import { redisAuditLog } from '../../../src/adapters/audit-log/redis.ts'
import { connectRedis } from '../../../src/adapters/redis/connection.ts'
import { auditStoreContract } from '../../contracts/audit-log.ts'
import { newKeyPrefix, sharedRedis } from '../../support/servers/redis-server.ts'

auditStoreContract('Redis', async (most, mostRefused) => {
  const { url } = await sharedRedis()
  const connections = [connectRedis({ url }), connectRedis({ url })] as const
  await Promise.all(connections.map((each) => each.ready()))
  const options = { keyPrefix: newKeyPrefix(), most, ...(mostRefused ? { mostRefused } : {}) }
  return {
    store: redisAuditLog(connections[0], options),
    elsewhere: redisAuditLog(connections[1], options),
    async close() {
      const key = `${options.keyPrefix}audit`
      await connections[0].client.del(key, `${key} refused`)
      await Promise.all(connections.map((each) => each.close()))
    },
  }
})
