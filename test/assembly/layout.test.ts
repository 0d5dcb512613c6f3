import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { loadConfig } from '../../config/load.ts'
import { connectRedis } from '../../src/adapters/redis/connection.ts'
import { openBackends } from '../../src/assembly/storage/backends.ts'
import { rejection } from '../support/rejection.ts'
import { redisEnv } from '../support/servers/on-redis.ts'
import { startRedis } from '../support/servers/redis-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { recordLog } from '../support/texts/recorded-log.ts'

describe('the layout of the index in Redis', () => {
  it('is noted at the start, and a start with the index of a newer version is refused', async () => {
    const [server, folder] = [await startRedis(), await temporaryFolder()]
    const redis = connectRedis({ url: server.url })
    try {
      await redis.ready()
      const environment = { ...(await redisEnv(0)), DATA_DIR: folder, REDIS_URL: server.url }
      const config = loadConfig(environment)
      const options = { config, baseUrl: 'http://localhost', log: recordLog(), deliveryLog: undefined }
      const opened = await openBackends(options)
      await opened.close({ graceMs: 0 })
      expect(await redis.client.get('{sluice}:layout')).to.equal('2')
      await redis.client.set('{sluice}:layout', 3)
      expect(await rejection(openBackends(options)))
        .to.have.property('message')
        .that.includes('layout 3 of a newer version')
    } finally {
      await redis.close()
      await server.remove()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
