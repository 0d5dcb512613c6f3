import { expect } from 'chai'
import { picture } from '../../support/media/images.ts'
import { entriesOf } from '../../support/requests/archive.ts'
import { deleteFile, postZip, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { inRedis, redisEnv } from '../../support/servers/on-redis.ts'
import { startRedisCluster } from '../../support/servers/redis-cluster.ts'
import { startRedis } from '../../support/servers/redis-server.ts'
import { type Service, startService } from '../../support/service.ts'
import { listAll } from '../../support/stored/files.ts'

const COMMANDS = ['&__redis__:invalidate', '+@read', '+@write', '+@scripting', '+@pubsub', '+@connection']
// As docs/how-to/s3-and-redis.md has them.
const RIGHTS = ['~{sluice}:*', '&{sluice}:*', ...COMMANDS]
// As docs/how-to/redis-cluster.md has them.
const CLUSTER_RIGHTS = [
  ...['~{sluice:*', '&{sluice:*', ...COMMANDS, '+info'],
  ...['+cluster|info', '+cluster|slots', '+cluster|myid'],
]

async function single(rights: readonly string[]) {
  const redis = await startRedis()
  await inRedis(redis.url, (client) => client.acl('SETUSER', 'sluice', 'on', '>secret', ...rights))
  return redis
}

async function clustered(rights: readonly string[]) {
  const cluster = await startRedisCluster()
  for (const node of cluster.nodes)
    await cluster.ask(node, 'ACL', 'SETUSER', 'sluice', 'on', '>secret', ...rights)
  return cluster
}

for (const [what, open, rights] of [
  ['with INFO', single, [...RIGHTS, '+info']],
  ['without INFO', single, [...RIGHTS, '-info']],
  ['in a cluster', clustered, CLUSTER_RIGHTS],
] as const) {
  describe(`a user of Redis with the least rights, ${what}`, () => {
    let redis: Awaited<ReturnType<typeof open>>
    let service: Service
    before(async () => {
      redis = await open(rights)
      const url = redis.url.replace('://', '://sluice:secret@')
      service = await startService({
        env: { ...(await redisEnv(0)), REDIS_URL: url, INDEX_PARTITIONS: '64' },
      })
    })
    after(async () => {
      await service?.stop()
      await redis?.remove()
    })

    it('stores, transforms, zips, lists and deletes files', async () => {
      const { src, s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
      expect((await exchange(service, `${src}?w=20`)).status).to.equal(200)
      const zip = await postZip(service, { files: [{ path: s3PathOriginal }] })
      expect(entriesOf(Buffer.from(await zip.arrayBuffer()))).to.have.length(2)
      expect(await listAll(service)).to.have.length(1)
      await deleteFile(service, s3PathOriginal)
      expect((await exchange(service, src)).status).to.equal(404)
      expect(jsonOf(await exchange(service, '/readyz'))).to.include({ status: 'ok' })
      expect(service.log.lines.filter(({ level }) => level === 'error')).to.deep.equal([])
    })
  })
}
