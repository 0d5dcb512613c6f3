import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { type Config, loadConfig } from '../../config/load.ts'
import { checkAddress } from '../../src/assembly/doctor/address.ts'
import { checkBucket, checkClock } from '../../src/assembly/doctor/bucket.ts'
import { checkConfiguration, checkNode } from '../../src/assembly/doctor/configuration.ts'
import { checkDataDir } from '../../src/assembly/doctor/data-dir.ts'
import { type DoctorOptions, examine } from '../../src/assembly/doctor/doctor.ts'
import { checkIssuer } from '../../src/assembly/doctor/issuer.ts'
import { checkFonts, checkMedia } from '../../src/assembly/doctor/media.ts'
import { checkMemory } from '../../src/assembly/doctor/memory.ts'
import { checkRedis } from '../../src/assembly/doctor/redis.ts'
import { type Checkup, checkupOf } from '../../src/core/checkup.ts'
import { forgeIssuer } from '../support/console/forged-issuer.ts'
import { eventually } from '../support/eventually.ts'
import { type Remote, remote } from '../support/requests/remote.ts'
import { inRedis, redisEnv } from '../support/servers/on-redis.ts'
import { objectsInS3, s3Env } from '../support/servers/on-s3.ts'
import { startRedisCluster } from '../support/servers/redis-cluster.ts'
import { PATIENT, type RedisServer, startRedis } from '../support/servers/redis-server.ts'
import { type SeenRequest, s3Proxy } from '../support/servers/s3-proxy.ts'
import { startWatchedRedis } from '../support/servers/sentinels.ts'
import { type SmallDisk, smallDisk } from '../support/servers/small-disk.ts'
import { PROJECT } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The checks of what is outside of the process, which `examine` runs with all others. */
const CHECKS = {
  'data folder': (config: Config) => checkDataDir(config),
  bucket: (config: Config) => checkBucket(config, String(config.S3_BUCKET)),
  clock: (config: Config, { now = Date.now }) =>
    checkClock(config, { bucket: String(config.S3_BUCKET), now }),
  Redis: (config: Config) => checkRedis(config, String(config.REDIS_URL)),
  'public URL': (config: Config) => checkAddress(config),
  'sign-in': (config: Config) => checkIssuer(config),
}

describe('the checks of sluice doctor', () => {
  let folder: string
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /** The results of all checks, by name. */
  async function results(environment: Record<string, string> = {}, options: Partial<DoctorOptions> = {}) {
    const all = new Map<string, Checkup>()
    const given = { DATA_DIR: folder, ...environment }
    for await (const one of examine({ root: PROJECT, environment: given, ...options })) all.set(one.name, one)
    return all
  }

  /** The result of one check, without the others: these start ffmpeg and look for LibreOffice and fonts. */
  async function result(
    name: keyof typeof CHECKS,
    environment: Record<string, string>,
    options: Pick<DoctorOptions, 'now'> = {},
  ) {
    const config = loadConfig({ DATA_DIR: folder, ...environment })
    return checkupOf(name, await CHECKS[name](config, options))
  }

  /** For a Redis that cannot be used: the check waits for it no longer than 3 s. */
  const impatient = (env: Record<string, string>) => ({
    ...env,
    REDIS_URL: (env.REDIS_URL ?? '').replace(PATIENT, '?timeout=3'),
  })

  async function configurationOf(environment: Record<string, string>) {
    const { findings } = await checkConfiguration({
      environment: { DATA_DIR: folder, ...environment },
      root: PROJECT,
    })
    return checkupOf('configuration', findings)
  }

  describe('on a bucket and Redis', () => {
    let env: Record<string, string>
    before(async () => {
      env = { ...(await redisEnv(7000)), ...(await s3Env('doctor')) }
    })

    it('are all ok, and leave no object, upload or file behind', async () => {
      const all = await results(env)
      expect([...all.keys()]).to.deep.equal([
        ...[
          'Node',
          'configuration',
          'data folder',
          'bucket',
          'clock',
          'Redis',
          'ffmpeg',
          'LibreOffice',
          'sharp',
          'fonts',
          'memory',
        ],
        'public URL',
      ])
      for (const name of ['configuration', 'bucket', 'clock', 'Redis', 'ffmpeg', 'LibreOffice', 'sharp'])
        expect(all.get(name)).to.include({ name, state: 'ok' }).and.not.have.property('advice')
      expect(all.get('bucket')?.found).to.match(/put, read, list, delete and multipart upload work/)
      expect(all.get('Redis')?.found).to.match(/^version \d+\.\d+\.\d+; responds in \d+\.\d ms$/)
      expect(await objectsInS3('doctor')).to.deep.equal([])
      expect(await readdir(folder)).to.deep.equal([])
    })

    it('report a wrong secret key and a missing bucket, without the secret', async () => {
      const secret = 'a-wrong-secret-key'
      const refused = await result('bucket', { ...env, AWS_SECRET_ACCESS_KEY: secret })
      expect(refused).to.include({ state: 'problem' })
      expect(refused.found).to.include('could not put an object: SignatureDoesNotMatch')
      expect(refused.advice).to.include('Correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
      expect(JSON.stringify(refused)).to.not.include(secret)
      const missing = await result('bucket', { ...env, S3_BUCKET: 'missing' })
      expect(missing).to.include({ state: 'problem' })
      expect(missing.found).to.include('NoSuchBucket')
      expect(missing.advice).to.include('Create the bucket')
    })

    it('name the right that the keys lack', async () => {
      const proxy = await s3Proxy(env.AWS_ENDPOINT_URL_S3 ?? '')
      const rights: Array<[right: string, needs: (request: SeenRequest) => boolean]> = [
        ['s3:PutObject', ({ method }) => method === 'PUT'],
        ['s3:GetObject', ({ method, query }) => method === 'HEAD' || (method === 'GET' && query.size === 0)],
        ['s3:ListBucket', ({ query }) => query.has('list-type')],
        ['s3:DeleteObject', ({ method, query }) => method === 'DELETE' || query.has('delete')],
        ['s3:ListBucketMultipartUploads', ({ method, query }) => method === 'GET' && query.has('uploads')],
      ]
      const body = '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>no</Message></Error>'
      try {
        for (const [right, needs] of rights) {
          proxy.decide((one) => (needs(one) ? { kind: 'answer', status: 403, body } : undefined))
          const one = await result('bucket', { ...env, AWS_ENDPOINT_URL_S3: proxy.endpoint })
          expect(one.state, right).to.equal('problem')
          expect(one.advice, one.found).to.match(new RegExp(`^Allow ${right} for this bucket`))
        }
      } finally {
        await proxy.close()
      }
    })

    it('report an endpoint that does not respond', async () => {
      const gone = { ...env, AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9' }
      const bucket = await result('bucket', gone)
      expect(bucket).to.include({ state: 'problem' })
      expect(bucket.advice).to.include('Check AWS_ENDPOINT_URL_S3')
      expect(await result('clock', gone)).to.include({ state: 'warning' })
    })

    it('compare the clock with the one of S3', async () => {
      const clock = (offsetMs: number) => result('clock', env, { now: () => Date.now() + offsetMs })
      expect(await clock(120_000)).to.include({ state: 'warning' })
      expect((await clock(120_000)).found).to.match(/^1[12]\d s ahead of the clock of S3$/)
      const late = await clock(-20 * 60_000)
      expect(late).to.include({ state: 'problem', advice: 'Synchronize the clock of this machine with NTP.' })
      expect(late.found).to.include('behind')
    })
  })

  describe('on other settings of Redis', () => {
    const servers: RedisServer[] = []
    after(() => Promise.all(servers.map((server) => server.remove())))
    const redis = async (...options: string[]) => {
      const server = await startRedis({ options })
      servers.push(server)
      return { ...(await redisEnv(7001)), REDIS_URL: server.url }
    }

    it('report eviction, missing persistence, a memory that is nearly full, and partitions without a cluster', async () => {
      const env = { ...(await redis('--maxmemory-policy', 'allkeys-lru')), INDEX_PARTITIONS: '64' }
      await inRedis(env.REDIS_URL, async (client) => {
        const used = Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1])
        await client.config('SET', 'maxmemory', String(Math.round(used * 1.2)))
      })
      const { state, found, advice } = await result('Redis', env)
      expect(state).to.equal('warning')
      expect(found)
        .to.include('Redis evicts entries of the index')
        .and.include('Redis stores nothing on disk')
        .and.include('INDEX_PARTITIONS has no effect')
      expect(found).to.match(/\d MB of maxmemory \S+ MB in use/)
      expect(advice).to.include('Set maxmemory-policy to noeviction').and.include('Set appendonly to yes.')
    })

    it('report a missing password and a server that does not run', async () => {
      const env = await redis('--requirepass', 'a-password-of-redis')
      const refused = await result('Redis', impatient(env))
      expect(refused).to.include({ state: 'problem' })
      expect(refused.advice).to.include('Set user name and password')
      const gone = await result('Redis', { ...env, REDIS_URL: 'redis://:hidden@127.0.0.1:9' })
      expect(gone).to.include({ state: 'problem', advice: 'Start Redis, or correct REDIS_URL.' })
      expect(gone.found).to.include('127.0.0.1:9').and.not.include('hidden')
    })
  })

  describe('on a Redis that refuses commands', () => {
    const servers: RedisServer[] = []
    const redis = async (...options: string[]) => {
      const server = await startRedis({ options })
      servers.push(server)
      return server
    }
    const expectProblem = async (url: string, words: string, advice: string) => {
      const one = await result('Redis', { ...(await redisEnv(7001)), REDIS_URL: url })
      expect(one.state, one.found).to.equal('problem')
      expect(one.found).to.include(words)
      expect(one.advice).to.include(advice)
    }
    after(() => Promise.all(servers.map((server) => server.remove())))

    it('name its own words, and what to do', async () => {
      const primary = await redis()
      const replica = await redis('--replicaof', '127.0.0.1', String(primary.port))
      await expectProblem(replica.url, 'READONLY', 'Set REDIS_URL to the primary.')
      const full = await redis('--maxmemory', '100kb')
      await expectProblem(full.url, 'OOM', 'Increase maxmemory.')
      const node = await redis('--cluster-enabled', 'yes')
      await expectProblem(node.url, 'CLUSTERDOWN', 'Redis Cluster')
      await inRedis(primary.url, (client) =>
        client.acl('SETUSER', 'other', 'on', '>secret', '~other:*', '&*', '+@all'),
      )
      const other = primary.url.replace('redis://', 'redis://other:secret@')
      await expectProblem(other, 'NOPERM', 'docs/how-to/s3-and-redis.md')
    })
  })

  describe('on a Redis Cluster', () => {
    it('report each primary, one without a replica, and missing nodes', async () => {
      const cluster = await startRedisCluster()
      try {
        const env = { ...(await redisEnv(7001)), REDIS_URL: cluster.url }
        const whole = await result('Redis', env)
        expect(whole.state).to.equal('warning')
        expect(whole.found).to.match(/^3 primaries share the keys; 127\.0\.0\.1:\d+: version /)
        for (const { port } of cluster.nodes)
          expect(whole.found).to.include(`:${port}: the primary has 0 replicas`)
        expect(whole.advice?.split('Start a replica')).to.have.length(2)
        await cluster.nodes[0]?.stop()
        await eventually(async () => {
          const { state, found, advice } = await result('Redis', impatient(env))
          expect(state, found).to.equal('problem')
          expect(advice).to.match(/Start its missing nodes|Start Redis/)
        })
        for (const node of cluster.nodes) await node.stop()
        const gone = await result('Redis', impatient(env))
        expect(gone.advice).to.include('Start the nodes of the cluster')
      } finally {
        await cluster.remove()
      }
    }).timeout(60_000)
  })

  describe('on a Redis that Sentinels watch', () => {
    it('report its replicas, and a URL that takes a Sentinel for Redis', async () => {
      const watched = await startWatchedRedis()
      try {
        const env = { ...(await redisEnv(7001)), REDIS_URL: watched.url }
        expect((await result('Redis', env)).found).to.include('the primary of mymaster has 1 replica')
        await watched.servers[1]?.stop()
        await eventually(async () => {
          const { found, advice } = await result('Redis', env)
          expect(found).to.include('has 0 replicas')
          expect(advice).to.include('Start a replica')
        })
        const [, sentinel] = /(127\.0\.0\.1:\d+)/.exec(watched.url) ?? []
        const { state, advice } = await result('Redis', { ...env, REDIS_URL: `redis://${sentinel}` })
        expect(state).to.equal('problem')
        expect(advice).to.include('redis+sentinel://')
      } finally {
        await watched.remove()
      }
    }).timeout(60_000)
  })

  describe('on a small disk', () => {
    let disk: SmallDisk
    before(async () => {
      disk = await smallDisk({ bytes: 1024 ** 2 })
    })
    after(() => disk.remove())

    it('report little space, a full disk, and one that is read-only', async () => {
      const dataFolder = () => result('data folder', { DATA_DIR: disk.folder })
      expect(await dataFolder()).to.include({ state: 'warning' })
      await disk.fill()
      const full = await dataFolder()
      expect(full).to.include({ state: 'problem' })
      expect(full.found).to.include('is on a full disk')
      await disk.makeRoom()
      await disk.makeReadOnly()
      expect((await dataFolder()).found).to.include('is on a read-only file system')
    })
  })

  it('do not create the data folder', async () => {
    const missing = await result('data folder', { DATA_DIR: join(folder, 'a', 'b') })
    expect(missing.found).to.include('the first start creates it')
    expect(await readdir(folder)).to.deep.equal([])
  })

  it('end after invalid variables, each of which is named', async () => {
    const all = await results({ PORT: 'x', SHUTDOWN_DELAY_SECONDS: '-1' })
    expect([...all.keys()]).to.deep.equal(['Node', 'configuration'])
    expect(all.get('configuration')).to.include({ state: 'problem' })
    expect(all.get('configuration')?.found).to.include('PORT: ').and.include('SHUTDOWN_DELAY_SECONDS: ')
  })

  it('report misspelt variables and broken plugins', async () => {
    const misspelt = await configurationOf({ UPLOAD_MAX_BYES: '5' })
    expect(misspelt).to.include({ state: 'warning' })
    expect(misspelt.found).to.include('Did you mean UPLOAD_MAX_BYTES?')
    await mkdir(join(folder, 'plugins'))
    await writeFile(join(folder, 'plugins', 'broken.js'), 'export default {}')
    const broken = await configurationOf({ PLUGINS_DIR: join(folder, 'plugins') })
    expect(broken).to.include({ state: 'problem', advice: 'Correct or remove the named file.' })
    expect(broken.found).to.include('broken.js')
  })

  it('report a version of Node that is too old, or receives no security updates', () => {
    const state = (version: string) => checkNode(version)[0]?.state
    expect(['20.18.9', '20.19.0', '22.0.0', '24.1.0'].map(state)).to.deep.equal([
      'problem',
      'warning',
      'ok',
      'ok',
    ])
  })

  it('report a missing ffmpeg, and missing encoders', async () => {
    const config = loadConfig({})
    const [missing] = await checkMedia(config, { PATH: folder })
    expect(missing).to.include({ state: 'warning', found: 'ffmpeg and ffprobe not found in PATH' })
    expect(missing?.advice).to.include('apt-get install')
    const script = '#!/bin/sh\necho "ffmpeg version 9.9"\necho " V....D mjpeg  MJPEG"\n'
    for (const name of ['ffmpeg', 'ffprobe']) {
      await writeFile(join(folder, name), script)
      await chmod(join(folder, name), 0o755)
    }
    const [poor] = await checkMedia(config, { PATH: `${folder}:/bin:/usr/bin` })
    expect(poor).to.include({ state: 'warning' })
    expect(poor?.found)
      .to.match(/^version 9\.9, without the encoders libx264, /)
      .and.not.include('mjpeg')
  })

  it('name the scripts without a font, and the packages that have them', async () => {
    const [warning] = await checkFonts(async () => ['Hindi', 'Thai'])
    expect(warning).to.include({ state: 'warning' })
    expect(warning?.found).to.include('no font for Hindi, Thai')
    expect(warning?.advice).to.include('fonts-noto-core fonts-noto-cjk')
    expect((await checkFonts(async () => []))[0]).to.include({ state: 'ok' })
  })

  it('compare the memory with the limits', async () => {
    const config = loadConfig({ TRANSFORM_MAX_MEMORY_BYTES: '600000000' })
    const states = [1e9, 0.9e9].map(async (bytes) => (await checkMemory(config, bytes))[0]?.state)
    expect(await Promise.all(states)).to.deep.equal(['ok', 'warning'])
  })

  describe('on the public URL', () => {
    let server: Remote
    before(async () => {
      server = await remote((req, res) => res.end(req.url === '/healthz' ? '{"status":"ok"}' : 'Welcome'))
    })
    after(() => server.close())

    it('request its /healthz', async () => {
      const at = (path: string) => result('public URL', { BASE_URL: server.url(path) })
      expect(await at('')).to.include({ state: 'ok' })
      expect((await at('/files')).found).to.include('returns 200, and not from Sluice')
    })
  })

  it('read the discovery document of OIDC_ISSUER', async () => {
    const issuer = await forgeIssuer()
    try {
      const environment = { ...issuer.env, BASE_URL: 'https://files.example.com' }
      const good = await result('sign-in', environment)
      expect(good).to.include({ state: 'ok' })
      expect(good.found).to.include('https://files.example.com/v1/session/oidc/callback')
      issuer.document = { issuer: 'https://evil.example' }
      const other = await result('sign-in', environment)
      expect(other).to.include({ state: 'warning' })
      expect(other.found).to.match(/cannot be used: \S/)
    } finally {
      await issuer.stop()
    }
  })
})
