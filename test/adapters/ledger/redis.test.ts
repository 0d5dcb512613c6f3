import { redisLedger } from '../../../src/adapters/ledger/redis.ts'
import { connectRedis } from '../../../src/adapters/redis/connection.ts'
import { ledgerContract } from '../../contracts/ledger.ts'
import { sharedRedis } from '../../support/servers/redis-server.ts'

ledgerContract('Redis', async () => {
  const { url } = await sharedRedis()
  const connections = [connectRedis({ url }), connectRedis({ url })] as const
  await Promise.all(connections.map((each) => each.ready()))
  const options = { keyPrefix: '{ledger-test}:' }
  return {
    ledger: redisLedger(connections[0], options),
    elsewhere: redisLedger(connections[1], options),
    close: async () => {
      await connections[0].client.del(await connections[0].client.keys('{ledger-test}:*'))
      await Promise.all(connections.map((each) => each.close()))
    },
  }
})
