import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { picture } from '../../support/media/images.ts'
import { entriesOf } from '../../support/requests/archive.ts'
import { deleteFile, postZip, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { inRedis, redisEnv } from '../../support/servers/on-redis.ts'
import { startRedisCluster } from '../../support/servers/redis-cluster.ts'
import { startRedis } from '../../support/servers/redis-server.ts'
import { PROJECT, type Service, startService } from '../../support/service.ts'
import { everyNth } from '../../support/sized.ts'
import { listAll } from '../../support/stored/files.ts'

const COMMANDS = ['&__redis__:invalidate', '+@read', '+@write', '+@scripting', '+@pubsub', '+@connection']
// As docs/how-to/s3-and-redis.md has them.
const RIGHTS = ['~{sluice}:*', '&{sluice}:*', ...COMMANDS]
// As docs/how-to/redis-cluster.md has them.
const CLUSTER_RIGHTS = [
  ...['~{sluice:*', '&{sluice:*', ...COMMANDS, '+info'],
  ...['+cluster|info', '+cluster|slots', '+cluster|myid'],
]

// The servers are set up with them.
const OF_TESTS = ['ACL SETUSER', 'CLUSTER ADDSLOTSRANGE', 'CLUSTER MEET']

const page = readFileSync(join(PROJECT, 'docs/how-to/s3-and-redis.md'), 'utf8')
const [, section = ''] = /^### Compatible servers\n(.*?)^###/ms.exec(page) ?? []
const documented = new Set([...section.matchAll(/`([A-Z ]+)`/g)].map(([, name]) => name))

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

const users = [
  ['without INFO', single, [...RIGHTS, '-info']],
  ['with INFO', single, [...RIGHTS, '+info']],
  ['in a cluster', clustered, CLUSTER_RIGHTS],
] as const
for (const [what, open, rights] of everyNth(2, users)) {
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

    it('uses only commands that the documentation lists', async () => {
      const used = new Set<string>()
      for (const { port } of 'nodes' in redis ? redis.nodes : [redis])
        await inRedis(`redis://127.0.0.1:${port}`, async (client) => {
          for (const [, name = ''] of (await client.info('commandstats')).matchAll(/^cmdstat_([^:]+):/gm))
            used.add(name.replace('|', ' ').toUpperCase())
        })
      for (const name of OF_TESTS) used.delete(name)
      expect(used).to.include('EVALSHA')
      expect([...used].filter((name) => !documented.has(name))).to.deep.equal([])
    })
  })
}

it('the scripts of Redis use only commands that the documentation lists', async () => {
  const files = readdirSync(join(PROJECT, 'src'), { recursive: true, encoding: 'utf8' })
  const sources = files.filter((path) => path.endsWith('.ts'))
  const scripts = sources.map((path) => readFileSync(join(PROJECT, 'src', path), 'utf8'))
  const names = scripts.flatMap((text) =>
    [...text.matchAll(/redis\.p?call\('(\w+)'/g)].map(([, name]) => name),
  )
  expect(names).to.include('HGET')
  expect(names.filter((name) => !documented.has(name))).to.deep.equal([])
})
