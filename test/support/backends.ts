import { scriptsWithoutFont } from '../../src/engines/image/documents/scripts.ts'
import { type Backend, EMBEDDED, filesHolding, removeIndex } from './backend.ts'
import { emptyRedis, endLockLeases, envOn, redisHolding, redisUrl, rowsIn } from './servers/on-redis.ts'
import { objectsInS3, s3Env, s3Holding } from './servers/on-s3.ts'
import { type RedisCluster, startRedisCluster } from './servers/redis-cluster.ts'
import { type Service, type ServiceOptions, startService } from './service.ts'
import { sized } from './sized.ts'
import { embeddedRows, filesInBucket } from './stored/state.ts'

/** Starts the service on one choice of storage. */
export type StartService = (options?: ServiceOptions) => Promise<Service>

/**
 * A suite about answers that do not depend on the storage, such as refusals before storage is touched. It runs on the embedded
 * backend, or with `SLUICE_TEST_BACKEND=s3-redis` on S3 and Redis. The services it starts are stopped at its end.
 */
export function onOneBackend(name: string, suite: Suite): void {
  onBackends([chosenBackend()], name, suite)
}

const chosenBackend = () => oneBackend(process.env.SLUICE_TEST_BACKEND)

function oneBackend(name = 'embedded'): Backend {
  if (name === 'embedded') return EMBEDDED
  if (name === 's3-redis') return S3_REDIS
  throw new Error(`SLUICE_TEST_BACKEND must be "embedded" or "s3-redis", received "${name}"`)
}

/** A suite about answers that bytes or index shape. Its `itOnce` registers tests whose answers do not depend on the storage. */
export function onTwoBackends(name: string, suite: Suite): void {
  onBackends([EMBEDDED, S3_REDIS], name, suite)
}

/** A suite whose requests take the same code on each backend, which the contracts of the adapters test: on one, and in the long run on two. */
export function onOneOrTwoBackends(name: string, suite: Suite): void {
  onBackends(sized([chosenBackend()], [EMBEDDED, S3_REDIS]), name, suite)
}

/** A suite about consistency: on two backends, and in the long run on each combination of bucket and index. */
export function onTwoOrEveryBackend(name: string, suite: Suite): void {
  onBackends(sized([EMBEDDED, S3_REDIS], BACKENDS), name, suite)
}

/** A suite for which it matters only how bytes come out of the bucket. */
export function onEveryBucket(name: string, suite: Suite): void {
  onBackends([EMBEDDED, S3_EMBEDDED], name, suite)
}

/** @param itOnce registers a test on one backend only, see {@link onOneBackend} */
type Suite = (start: StartService, backend: Backend, itOnce: ItOnce) => void
type ItOnce = (title: string, test: Mocha.AsyncFunc) => void

function onBackends(backends: readonly Backend[], name: string, suite: Suite): void {
  const once = backends.includes(chosenBackend()) ? chosenBackend() : backends[0]
  for (const backend of backends)
    describe(`${name} (${backend.name})`, () => {
      before('start the servers', async () => {
        // Ceph takes two seconds on an idle machine.
        await backend.env('the first to ask')
      })
      suite(
        stoppedAtTheEnd((options) => startService({ backend, ...options })),
        backend,
        (title, test) => void (backend === once && it(title, test)),
      )
    })
}

/** Of the suite that calls it: services that a test has stopped itself are left alone. */
export function stoppedAtTheEnd(start: StartService): StartService {
  return stoppedBy(after, start)
}

/**
 * The same after each test, for services with a folder that goes with the test: a service that still stores something while its
 * folder is removed would have that fail. To be called before the suite's own `afterEach`.
 */
export function stoppedAfterEach(start: StartService): StartService {
  return stoppedBy(afterEach, start)
}

function stoppedBy(hook: typeof after, start: StartService): StartService {
  const running = new Set<Service>()
  hook(async () => {
    const failures: unknown[] = []
    // A service that fails its checks must not leave the others running: mocha would wait for them.
    for (const service of running) await service.stop().catch((error) => failures.push(error))
    running.clear()
    if (failures.length > 0) throw failures[0]
  })
  return async (options) => {
    const service = await start(options)
    running.add(service)
    return {
      ...service,
      async stop(stopOptions) {
        if (running.delete(service)) await service.stop(stopOptions)
      },
    }
  }
}

/**
 * One service for all tests of a suite that start it with the same environment. It is for tests that neither count nor list what
 * others have stored.
 */
export function oneForEqual(start: StartService): (env?: Record<string, string>) => Promise<Service> {
  const services = new Map<string, Promise<Service>>()
  return (env = {}) => {
    const settings = JSON.stringify(env)
    const service = services.get(settings) ?? start({ env })
    services.set(settings, service)
    return service
  }
}

// A number for each data folder: a database of Redis, a prefix of S3.
const numbers = new Map<string, number>()

function numberOf(dataDir: string): number {
  const number = numbers.get(dataDir) ?? numbers.size + 1
  numbers.set(dataDir, number)
  return number
}

// A cluster has one database, so each data folder has a cluster.
const clusters = new Map<string, Promise<RedisCluster>>()

function clusterOf(dataDir: string): Promise<RedisCluster> {
  const cluster = clusters.get(dataDir) ?? startRedisCluster()
  clusters.set(dataDir, cluster)
  return cluster
}

/** Stops all clusters of {@link S3_CLUSTER}. To be called at the end of a suite: they take CPU time also when they are idle. */
export async function removeClusters(): Promise<void> {
  const all = [...clusters.values()]
  clusters.clear()
  for (const cluster of all) await (await cluster).remove()
}

const redisUrlOf = async (dataDir: string) =>
  (await clusters.get(dataDir))?.url ?? (await redisUrl(numberOf(dataDir)))

/** As when time had passed: what dead processes have locked in the Redis of this data folder is free. */
export const endLocks = async (dataDir: string): Promise<void> => endLockLeases(await redisUrlOf(dataDir))

const prefixOf = (dataDir: string) => `service-${numberOf(dataDir)}`

export const DISK_REDIS: Backend = {
  name: 'disk, Redis',
  env: async (dataDir) => envOn(await redisUrlOf(dataDir)),
  objects: filesInBucket,
  state: async (dataDir) => ({
    files: await filesInBucket(dataDir),
    rows: await rowsIn(await redisUrlOf(dataDir)),
  }),
  emptyIndex: async (dataDir) => void (await emptyRedis(await redisUrlOf(dataDir))),
  holding: async (dataDir, text) => [
    ...(await filesHolding(dataDir, text)),
    ...(await redisHolding(await redisUrlOf(dataDir), text)),
  ],
}

export const S3_EMBEDDED: Backend = {
  name: 'S3, embedded',
  env: (dataDir) => s3Env(prefixOf(dataDir)),
  objects: (dataDir) => objectsInS3(prefixOf(dataDir)),
  state: async (dataDir) => ({
    files: await objectsInS3(prefixOf(dataDir)),
    rows: await embeddedRows(dataDir),
  }),
  emptyIndex: removeIndex,
  holding: async (dataDir, text) => [
    ...(await filesHolding(dataDir, text)),
    ...(await s3Holding(prefixOf(dataDir), text)),
  ],
}

export const S3_REDIS: Backend = {
  name: 'S3, Redis',
  env: async (dataDir) => ({ ...(await DISK_REDIS.env(dataDir)), ...(await S3_EMBEDDED.env(dataDir)) }),
  objects: S3_EMBEDDED.objects,
  state: async (dataDir) => ({
    files: await objectsInS3(prefixOf(dataDir)),
    rows: await rowsIn(await redisUrlOf(dataDir)),
  }),
  emptyIndex: DISK_REDIS.emptyIndex,
  holding: async (dataDir, text) => [
    ...(await DISK_REDIS.holding(dataDir, text)),
    ...(await s3Holding(prefixOf(dataDir), text)),
  ],
}

/** On a Redis Cluster of three nodes, without replicas, for each data folder. Its suite calls {@link removeClusters} at the end. */
export const S3_CLUSTER: Backend = {
  ...S3_REDIS,
  name: 'S3, Redis Cluster',
  async env(dataDir) {
    await clusterOf(dataDir)
    // The cache in memory would need twice as many connections.
    return { ...(await S3_REDIS.env(dataDir)), INDEX_PARTITIONS: '64', HOT_CACHE_BYTES: '0' }
  },
}

/** The check of the disk in `GET /readyz`: a service without data on its disk has none. */
export const diskCheck = (backend: Backend): { disk?: 'ok' } => (backend === S3_REDIS ? {} : { disk: 'ok' })

/** What `GET /readyz` says about the fonts of this machine. */
export async function fontCheck(): Promise<{
  check: { fonts: 'ok' | 'missing' }
  scriptsWithoutFont?: string[]
}> {
  const lacking = await scriptsWithoutFont()
  if (lacking.length === 0) return { check: { fonts: 'ok' } }
  return { check: { fonts: 'missing' }, scriptsWithoutFont: lacking }
}

/** All that make sense. */
export const BACKENDS: readonly Backend[] = [EMBEDDED, DISK_REDIS, S3_EMBEDDED, S3_REDIS]

/** Whether both the files and the index of a backend are in servers, or neither is: together, these two have every adapter. */
export const isOneOfTwo = (backend: Backend): boolean => backend === EMBEDDED || backend === S3_REDIS
