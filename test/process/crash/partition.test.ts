import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { mapConcurrent } from '../../../src/core/async/map-concurrent.ts'
import { newFileId, type ObjectKey, storedKey } from '../../../src/core/files/object-key.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { startCli } from '../../support/programs/cli.ts'
import { sluice, sluiceJson } from '../../support/programs/sluice.ts'
import { deleteFile, uploadOne } from '../../support/requests/client.ts'
import { redisEnv } from '../../support/servers/on-redis.ts'
import { type RedisCluster, startRedisCluster } from '../../support/servers/redis-cluster.ts'
import { type Service, startService } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { listAll } from '../../support/stored/files.ts'
import { settled } from '../../support/stored/settled.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

// Files that only the index has. The move of these takes long enough to be killed.
const MANY = sized(1500, 3000)

describe('sluice client partition, next to servers on a Redis Cluster', function () {
  this.timeout(180_000)
  let cluster: RedisCluster
  let dataDir: string
  let env: Record<string, string>
  let servers: Service[]
  let png: Buffer

  before(async () => {
    png = await picture()
    cluster = await startRedisCluster()
    dataDir = await temporaryFolder()
    env = { ...(await redisEnv(0)), REDIS_URL: cluster.url, DATA_DIR: dataDir }
    servers = [await startService({ env, dataDir }), await startService({ env, dataDir })]
  })
  after(async () => {
    for (const server of servers ?? []) await server.stop({ keepData: true })
    await cluster?.remove()
    await rm(dataDir, { recursive: true, force: true })
  })

  const serverOf = (i: number) => servers[i % servers.length] as Service
  /** Keys of all nodes. */
  const keys = async (pattern: string) =>
    (await Promise.all(cluster.nodes.map((node) => cluster.ask(node, 'KEYS', pattern)))).flat() as string[]
  /** The hash tags of the files of the client. */
  const tagsOfFiles = async () => (await keys('*:2:f:first/*')).map((name) => name.split('}')[0])
  const run = (to: string) => sluice(['client', 'partition', 'first', to], env)

  it('moves the files of a client while they are used, also after it was killed', async () => {
    const { index } = serverOf(0).storage
    const record = { mediaType: 'image/png', size: 1, sha256: '00', storedAt: 1, originalName: 'a' }
    const many = Array.from({ length: MANY }, () => storedKey(`many/image/png/${newFileId()}.png`))
    // A comparison would remove them from the index.
    await eventually(async () => expect((await index.run()).isCompared).to.equal(true))
    const work = (key: ObjectKey) => index.adopt('first', { ...record, key })
    for await (const _ of mapConcurrent(many, { concurrency: 32, work }));

    const stored = new Set<string>(many)
    const statuses = new Map<string, number>()
    const note = (what: string, { status }: Response) => {
      statuses.set(`${what} ${status}`, (statuses.get(`${what} ${status}`) ?? 0) + 1)
    }
    // The move waits for most of its time; without this, the requests would take all of the CPU.
    let pauseMs = sized(500, 0)
    let isMoving = true
    /** Uploads, delivers, transforms, lists and deletes, in several servers. */
    const use = async (own: number) => {
      for (let i = own; isMoving; i += 1) {
        await pause(pauseMs)
        const { src, s3PathOriginal: key } = await uploadOne(serverOf(i), { name: `${i}.png`, bytes: png })
        const path = new URL(src).pathname
        note('get', await fetch(serverOf(i + 1).url + path))
        if (i % 4 === 0) note('get', await fetch(`${serverOf(i).url}${path}?w=20`))
        note('list', await list(serverOf(i)))
        if (i % 2 === 0) {
          stored.add(key)
          continue
        }
        note('delete', await deleteFile(serverOf(i + 1), key))
        note('get deleted', await fetch(serverOf(i).url + path))
      }
    }
    const using = Promise.all([0, 1, 2].map(use))
    // It is awaited at the end.
    using.catch(() => {})

    const { child, ended } = startCli(['client', 'partition', 'first', '64'], env)
    await eventually(async () => expect(new Set(await tagsOfFiles()).size).to.be.above(1))
    child.kill('SIGKILL')
    // From now on, it waits even longer.
    pauseMs = sized(1500, 0)
    expect((await ended).code).to.equal('SIGKILL')
    expect((await sluice(['client', 'show', 'first'], env)).stdout).to.match(
      /^partitions +1, moving to 64; to complete this, run: sluice client partition first 64$/m,
    )
    expect((await sluice(['client', 'list'], env)).stdout).to.match(/active, moving to 64 partitions/)
    const { code, stderr } = await run('1')
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr:
        'sluice: The files of first are moving to 64 partitions. Complete this first: sluice client partition first 64\n',
    })

    // It waits until the lock of the killed command has expired.
    const { stdout } = await run('64')
    expect(stdout).to.match(/^first: 64 partitions, [\d,]+ files moved in \d+ s\n$/)
    isMoving = false
    await using

    expect([...statuses.keys()].sort()).to.deep.equal([
      'delete 200',
      'get 200',
      'get deleted 404',
      'list 200',
    ])
    for (const server of servers) {
      const listed = await listAll(server, 'limit=1000')
      expect(listed.map(({ s3PathOriginal }) => s3PathOriginal).sort()).to.deep.equal([...stored].sort())
    }
    await Promise.all(servers.map(settled))
    expect(await serverOf(1).storage.index.recount('first', { repair: false })).to.deep.equal([])
    // Each has its part.
    expect(new Set(await tagsOfFiles()).size).to.equal(64)
  })

  it('states that the client has this number already', async () => {
    const { id } = await sluiceJson<{ id: string }>(['client', 'create'], env)
    const { code, stdout } = await sluice(['client', 'partition', id, '1'], env)
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: `${id} has 1 partition already\n` })
  })

  it('refuses other numbers, unknown clients, and an index without partitions', async () => {
    expect((await run('3')).stderr).to.include('expected 1 or 64 partitions but received "3"')
    expect((await run('3')).code).to.equal(2)
    const unknown = await sluice(['client', 'partition', 'nobody', '64'], env)
    expect(unknown).to.deep.include({ code: 1, stderr: 'sluice: No client has the id "nobody".\n' })
    const single = await sluice(['client', 'partition', 'first', '64'], { ...env, ...(await redisEnv(0)) })
    expect(single).to.deep.include({
      code: 1,
      stderr:
        'sluice: Only the index in a Redis Cluster has partitions. Set REDIS_URL to redis+cluster://… to use one.\n',
    })
  })
})

/** A page of a list. */
function list({ url, tokens }: Service): Promise<Response> {
  return fetch(`${url}/v1/files?limit=5`, { headers: { Authorization: tokens.secretClientToken } })
}
