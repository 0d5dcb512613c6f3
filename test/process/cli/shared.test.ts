import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { redisIndex } from '../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis, type RedisConnection } from '../../../src/adapters/redis/connection.ts'
import { reindexedListOf } from '../../contracts/file-index/file-index-model.ts'
import { S3_EMBEDDED } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { sluice as runProgram } from '../../support/programs/cli.ts'
import type { NewClient } from '../../support/programs/operated.ts'
import { sluice, sluiceJson } from '../../support/programs/sluice.ts'
import { type Caller, postFiles, uploadOne } from '../../support/requests/client.ts'
import { type RedisServer, startRedis, withDatabase } from '../../support/servers/redis-server.ts'
import { type Service, startService } from '../../support/service.ts'
import { itLong, sized } from '../../support/sized.ts'
import { settled } from '../../support/stored/settled.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

// A service asks every two seconds whether others have changed a client.

describe('the sluice command next to servers on S3 and Redis', function () {
  this.timeout(90_000)
  let dataDir: string
  let env: Record<string, string>
  let redisServer: RedisServer
  let redis: RedisConnection
  let servers: Service[]
  let png: Buffer

  before(async () => {
    png = await picture()
    dataDir = await temporaryFolder()
    redisServer = await startRedis({ fails: true })
    redis = connectRedis({ url: redisServer.url })
    env = {
      ...(await S3_EMBEDDED.env(dataDir)),
      DATA_DIR: dataDir,
      REDIS_URL: redisServer.url,
      CLIENT_TOKEN: 'pub_of_all_processes',
      SECRET_CLIENT_TOKEN: 'sec_of_all_processes',
      APP_SECRET: 'the-app-secret-of-all-processes-of-the-tests',
    }
    servers = [await startService({ env, dataDir }), await startService({ env, dataDir })]
  })
  after(async () => {
    for (const server of servers) await server.stop({ keepData: true })
    await redis.close()
    await redisServer.remove()
    await rm(dataDir, { recursive: true, force: true })
  })

  itLong('says that there are no clients before the first start, instead of that all is well', async () => {
    const early = { ...env, S3_PREFIX: 'before-the-first-start', REDIS_URL: withDatabase(redisServer.url, 5) }
    for (const command of ['check', 'reindex']) {
      const { code, stderr } = await sluice([command], early)
      expect(code, command).to.equal(1)
      expect(stderr, command).to.include('There are no clients yet. Start the service once')
    }
  })

  const callers = (tokens: NewClient): Caller[] => servers.map(({ url }) => ({ url, tokens }))

  /** Whether each server accepts the secret. */
  function accepted(tokens: NewClient): Promise<boolean[]> {
    return Promise.all(callers(tokens).map(async (caller) => (await postFiles(caller, [])).status !== 401))
  }

  async function transform({ src }: { src: string }, query: string): Promise<void> {
    const response = await fetch(`${servers[0]?.url}${new URL(src).pathname}?${query}`)
    expect(response.status).to.equal(200)
    await response.arrayBuffer()
  }

  it('creates, changes and removes clients, and all servers know within seconds', async () => {
    const client = await sluiceJson<NewClient>(['client', 'create', '--name', 'shop'], env)
    await eventually(async () => expect(await accepted(client)).to.deep.equal([true, true]))

    const fresh = await sluiceJson<NewClient>(['client', 'rotate', client.id, '--keep-old', '0s'], env)
    await eventually(async () => expect(await accepted(client)).to.deep.equal([false, false]))
    expect(await accepted(fresh)).to.deep.equal([true, true])

    const [mine] = callers(fresh)
    if (!mine) throw new Error('no server')
    const { pathname } = new URL((await uploadOne(mine, { name: 'a.png', bytes: png })).src)
    const widths = async () => {
      // Few requests until the servers know.
      await pause(300)
      const etagOf = async ({ url }: Service) => (await fetch(`${url}${pathname}?w=20`)).headers.get('etag')
      return Promise.all(servers.map(etagOf))
    }
    await sluiceJson(['client', 'set', client.id, '--allowed-widths', '30,40'], env)
    await eventually(async () =>
      expect(await widths()).to.satisfy((tags: string[]) => tags.every((tag) => /_w=30"$/.test(tag))),
    )

    const { code } = await sluice(['client', 'remove', client.id, '--files'], env)
    expect(code).to.equal(0)
    // A removal waits until all have heard.
    expect(await accepted(fresh)).to.deep.equal([false, false])
    expect(await sluiceJson<object[]>(['client', 'list'], env)).to.have.length(1)
    expect(await sluiceJson(['check'], env)).to.deep.include({ originals: 0, findings: {} })
  })

  it('fills an emptied Redis, and everything works as before', async () => {
    const client = await sluiceJson<NewClient>(['client', 'create', '--name', 'shop'], env)
    await eventually(async () => expect(await accepted(client)).to.deep.equal([true, true]))
    const [mine] = callers(client)
    const [server] = servers
    if (!mine || !server) throw new Error('no server')
    const record = await uploadOne(mine, { name: 'Übersicht “1”.png', bytes: png }, { path: 'a/b' })
    await uploadOne(server, { name: 'notes.txt', bytes: 'text' })
    await transform(record, 'w=10&f=webp')
    await transform(record, 'w=20')
    // They are sent before they are stored.
    await settled(server)
    expect(await sluiceJson<object>(['check'], env)).to.include({
      originals: 2,
      derivatives: 2,
      inProgress: 0,
    })
    const index = redisIndex(redis, { keyPrefix: '{sluice}:' })
    const before = { index: await reindexedListOf(index), clients: await sluiceJson(['client', 'list'], env) }
    expect(Object.keys(before.index)).to.have.length(2)

    await redis.client.flushall()
    // The servers notice it by themselves, a few seconds later.
    await eventually(async () => expect(await reindexedListOf(index)).to.deep.equal(before.index))
    expect((await sluice(['check'], env)).code).to.equal(0)
    expect(await sluiceJson(['client', 'list'], env)).to.deep.equal(before.clients)

    expect((await sluice(['reindex'], env)).stdout).to.match(/^originals +2 +0 +0$/m)
    expect(await reindexedListOf(index)).to.deep.equal(before.index)
    await transform(record, 'w=10&f=webp')
  })

  it('imports only files that can be decoded, for a client whose rules require it', async () => {
    const { id } = await sluiceJson<NewClient>(['client', 'create', '--name', 'shop'], env)
    await sluiceJson(['client', 'set', id, '--upload-decodable', 'on'], env)
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'whole.png'), png)
    await writeFile(join(folder, 'part.png'), png.subarray(0, png.length / 2))
    // 1: some were refused.
    const { code, stdout } = await sluice(['import', folder, '--client', id, '--json'], env)
    expect(code).to.equal(1)
    const lines = stdout.trimEnd().split('\n')
    expect(JSON.parse(lines.at(-1) ?? '')).to.include({ imported: 1, refused: 1 })
    await rm(folder, { recursive: true })
  })

  itLong('does not print the warnings about Redis, which the servers log', async () => {
    const { code, stderr } = await runProgram(['client', 'list'], env)
    expect(code).to.equal(0)
    expect(stderr).to.not.include('appendonly')
  })

  it('does not change the first secret, which the environment sets', async () => {
    const { code, stderr } = await sluice(['client', 'rotate', 'first'], env)
    expect(code).to.equal(1)
    expect(stderr).to.include('SECRET_CLIENT_TOKEN')
  })

  itLong('reports why Redis cannot be used', async () => {
    for (const [url, reason] of [
      [withDatabase(redisServer.url, 99_999), 'DB index is out of range'],
      [redisServer.url.replace('//', '//nobody:wrong@'), 'WRONGPASS'],
    ] as const) {
      const { code, stderr } = await sluice(['client', 'list'], {
        ...env,
        REDIS_URL: url,
        LOG_LEVEL: 'silent',
      })
      expect(code).to.equal(1)
      expect(stderr).to.include(reason).and.not.include('nobody:wrong')
    }
  })

  itLong('exits when Redis is down, reports it, and changes nothing', async () => {
    await redisServer.stop()
    try {
      const commands = [['client', 'create'], ...sized([], [['check'], ['reindex'], ['sweep']])]
      for (const args of commands) {
        const { code, stdout, stderr } = await runProgram(args, { ...env, LOG_LEVEL: 'silent' })
        expect({ code, stdout }, args.join(' ')).to.deep.equal({ code: 1, stdout: '' })
        expect(stderr, args.join(' ')).to.match(/^sluice: .*does not respond/m)
      }
    } finally {
      await redisServer.start()
    }
    await eventually(async () => expect(await sluiceJson<object[]>(['client', 'list'], env)).to.not.be.empty)
  })
})
